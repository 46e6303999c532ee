// openfoam: what forebay knows of OpenFOAM cases: directories, times, dictionaries, the decomposedBlockData format.
//
// Promises: reads only; tolerant of dictionaries it does not fully understand (an entry it cannot read is absent, never
// guessed). Sources: OpenFOAM v1912 as packaged by Debian; docs/openfoam.md lists what was measured.
// Must not know: pools, runs, the drain.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/base.h"

namespace forebay::openfoam {

// What a case directory says about itself.
struct CaseFacts {
  bool is_case = false;           // system/controlDict is there
  int ranks = 0;                  // processor0..processor<ranks-1> all exist; 0: not decomposed
  std::vector<std::string> groups;  // processors<N>... directories (collated input), sorted
  int group_ranks = 0;            // N of these; 0 when there are none
  // From system/controlDict; nullopt when absent or not a plain literal (#calc, macros, ...).
  std::optional<int> purge_write;
  std::optional<double> write_interval;
  std::string write_control, write_format, application;
};
// `directory` need not be an OpenFOAM case; an unreadable one is an error.
Result<CaseFacts> inspect(const std::string& directory);

// The value of a top-level entry of a dictionary's text: "purgeWrite 1;" -> "1". Comments and strings are understood,
// sub-dictionaries skipped, the last entry wins as in OpenFOAM; nullopt when absent.
std::optional<std::string> dictionary_entry(std::string_view text, std::string_view key);

// "0", "0.005", "1e-05", "100": what OpenFOAM takes for a time directory. "constant" is not one.
bool is_time_name(std::string_view name);
// Compares two time names by value, then by text.
bool time_less(std::string_view a, std::string_view b);

// "processor3" -> 3; "processors4" and others -> nullopt.
std::optional<int> processor_of(std::string_view name);

// Where a path (relative to the case) lies: processor3/0.005/uniform/time -> {3, "0.005", "uniform/time"}.
// For a path in a time directory of an undecomposed case: rank -1. nullopt when it lies in no time directory.
struct TimePath {
  int rank = -1;
  std::string time;
  std::string rest;  // empty for the time directory itself
};
std::optional<TimePath> time_path(std::string_view case_path);

// Programs known to treat a symbolic link to an input like the input itself (OpenFOAM's solvers and tools).
bool tolerates_links(std::string_view program);

// One block of a decomposedBlockData file is the uncollated file of a rank, as it is for fields; for the lists of a mesh
// (points, faces, owner, ...) the FoamFile headers of all blocks but the first must go.
struct FileHeader {
  std::string format;       // "ascii" or "binary"
  std::string class_name;   // "volVectorField", ...
  std::string location;     // "0.005", may be empty
  std::string object;       // "U"
  std::size_t end = 0;      // offset of the first byte behind the header's closing brace and separator line
};
// Reads the FoamFile header at the start of a file's first bytes; nullopt when there is none (compressed or foreign).
std::optional<FileHeader> parse_header(std::string_view first_bytes);
// True when collating must strip the header from every block but the first.
bool is_list_class(std::string_view class_name);

// The text before the first block: banner and FoamFile header of a decomposedBlockData file with `blocks` blocks.
std::string collated_header(const FileHeader& of, std::string_view time, int blocks);
// The text before a block's raw bytes ("\n// Processor3\n\n1234\n(") and behind them (")\n"). `index` counts within the file.
std::string block_prefix(int index, std::uint64_t bytes);
std::string block_suffix();

}  // namespace forebay::openfoam
