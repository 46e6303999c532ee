// openfoam: what forebay knows of OpenFOAM cases: directories, times, dictionaries, the decomposedBlockData format.
//
// Promises: reads only; tolerant of dictionaries it does not fully understand (an entry it cannot read is absent, never
// guessed). Sources: OpenFOAM v1912 as packaged by Debian; docs/run/openfoam.md lists what was measured.
// Must not know: pools, runs, the drain.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/base.h"

namespace forebay::openfoam {

// The facts that a case directory tells about itself.
struct CaseFacts {
  bool is_case = false;             // system/controlDict is there
  int ranks = 0;                    // processor0..processor<ranks-1> all exist; 0: not decomposed, or one is missing
  std::optional<int> missing_rank;  // the first missing one, when a processor directory with a higher number exists
  std::vector<std::string> groups;  // processors<N>... directories (collated input), sorted
  int group_ranks = 0;              // N of these; 0 when there are none, or when they disagree
  // The entry of system/controlDict; nullopt when absent or not a plain literal (#calc, macros, ...).
  std::optional<int> purge_write;
  std::optional<double> write_interval;
  std::string write_control, application, start_from, start_time;
};
// `directory` need not be an OpenFOAM case; an unreadable one is an error.
Result<CaseFacts> inspect(const std::string& directory);

// The value of a top-level entry of a dictionary's text: "purgeWrite 1;" -> "1". Comments and strings are understood,
// sub-dictionaries skipped, the last entry wins as in OpenFOAM. The result is nullopt when absent, when the last one is
// a dictionary, or when its value is known only to OpenFOAM (macros, #calc, an entry inside #if, ...). Entries that
// #include brings are unseen. White space within a value is one blank, comments are gone, strings keep their quotes.
std::optional<std::string> dictionary_entry(std::string_view text, std::string_view key);

// "0", "0.005", "1e-05", "100": what OpenFOAM takes for a time directory. "constant" is not one.
bool is_time_name(std::string_view name);
// Compares two time names by value, then by text.
bool time_less(std::string_view a, std::string_view b);
// "0.1" and "0.10" are the same time.
bool same_time(std::string_view a, std::string_view b);

// "processor3" -> 3; "processors4" and others -> nullopt.
std::optional<int> processor_of(std::string_view name);

// A directory of collated files: "processors4" -> {4, 0, 3}, "processors4_0-1" -> {4, 0, 1}; others -> nullopt.
struct Group {
  int all_ranks = 0;
  int first = 0, last = 0;
};
std::optional<Group> group_of(std::string_view name);
// The name of its directory: that of all ranks is "processors4".
std::string name_of_group(const Group& group);

// The directories that a program's ranks write to together, by the first rank of each: {0: "processors4_0-1", 2:
// "processors4_2-3"}; empty where each writes to its own directory. OpenFOAM's collated file handler does so, where the
// case's controlDict, the command's words, or this process's environment ask for it.
std::map<int, std::string> written_groups(const std::vector<std::string>& words, const std::string& case_path,
                                          int ranks);

// Where a path (relative to the case) lies: processor3/0.005/uniform/time -> {3, "0.005", "uniform/time"}. The rank is
// -1 for a path in a time directory of an undecomposed case. The result is nullopt when it lies in no time directory.
struct TimePath {
  int rank = -1;
  std::string time;
  std::string rest;  // empty for the time directory itself
};
std::optional<TimePath> time_path(std::string_view case_path);

// For people: what this process's environment lacks that OpenFOAM's programs need, and what to do; empty where nothing
// is known to be missing.
std::string lacking_environment();

// Programs known to treat a symbolic link to an input like the input itself (OpenFOAM's solvers and tools).
bool tolerates_links(std::string_view program);

// Programs that run on ranks and make the ranks' directories by themselves.
bool makes_rank_directories(std::string_view program);

// The FoamFile header of a file.
struct FileHeader {
  std::string format;      // "ascii" or "binary"
  std::string class_name;  // "volVectorField", ...
  std::string location;    // "0.005", may be empty
  std::string object;      // "U"
  int label_bytes = 4;     // from the arch entry of binary files
  std::size_t end = 0;     // offset of the first byte behind the header's closing brace and separator line
};
// Reads the FoamFile header at the start of a file's first bytes; nullopt when there is none (compressed or foreign).
std::optional<FileHeader> parse_header(std::string_view first_bytes);

// A decomposedBlockData file holds one block per rank. The first block is the uncollated file of its rank as it is. The
// FoamFile header of the others must go (lists are read token by token, and a dictionary would keep the header as an
// entry), and their closing line may. So OpenFOAM's own collated writer does, for every class.
inline constexpr std::string_view closing_line =
    "\n\n// ************************************************************************* //\n";
// A file of such a class OpenFOAM keeps once for all ranks, as a plain file: dictionaries and uniform dimensioned
// values. Its serial tools copy these files as they are, so blocks would end up in the user's reconstructed case.
bool is_global_class(std::string_view class_name);
// Fields on a mesh (volVectorField, surfaceScalarField, volScalarField::Internal, ...). Their readers look entries up
// in a dictionary, so that in a block of theirs a FoamFile header does no harm.
bool is_mesh_field_class(std::string_view class_name);
// The block of a rank that has no such file: a rank without particles writes no lists, where the collated writer writes
// empty ones. nullopt for what is not a list (a field that one rank lacks).
std::optional<std::string> empty_block(const FileHeader& like);

// The text before the first block: banner and FoamFile header of a decomposedBlockData file with `blocks` blocks.
// `location` is the directory below the processor directory: "0.005", "0.005/lagrangian/cloud".
std::string collated_header(std::string_view object, std::string_view location, int blocks);
// The text before a block's raw bytes and behind them. `index` counts within the file.
std::string block_prefix(int index, std::uint64_t bytes);
std::string block_suffix();

}  // namespace forebay::openfoam
