// layouts: how drained files are arranged on the shared file system.
//
// A layout turns local files into units. A unit is what appears on the case as one: a single file, or a whole time
// directory. Its files are described as pieces (literal bytes, or a range of a local file), so that the mover, which
// executes units, knows nothing of any format. Building a unit reads only what the format needs (sizes, a header;
// a compressed file as a whole).
// Promises: deterministic (the same local files give the same bytes); never looks at the case, never writes.
// Must not know: how units are carried (drain), where pools are.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::layouts {

// A run of bytes of an output file: `literal` when `source` is empty, else `length` bytes of the local file `source`
// (absolute path, opened without following links) from `offset`.
struct Piece {
  std::string literal;
  std::string source;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// A file that a new name is to be a hard link to.
struct HardLink {
  std::string path;  // `inside`: of an earlier file of the unit, as it is there; else on the case
  bool inside = false;
  Identity identity{};  // on the case; not `inside`
};

// A regular file or a symbolic link to be made on the case.
struct OutputFile {
  std::string path;           // relative to the unit's target for a directory unit; empty for a file unit
  mode_t mode = 0644;         // permission bits
  std::int64_t mtime_ns = 0;  // kept, so that the order of modification survives
  std::string link_target;    // not empty: a symbolic link with this text, and no pieces
  std::vector<Piece> pieces;
  // Second names become hard links; where the file system of the case makes none, the pieces are written.
  std::optional<HardLink> hard_link = std::nullopt;
  std::optional<Owner> owner = std::nullopt;  // of the local file; nullopt: it is made of several
  // The one local file that it is made of must still have `mtime_ns` when all of it was read: else its content changed.
  bool must_keep_time = false;
};

struct OutputDirectory {
  std::string path;  // relative to the unit's target; parents come before children; "" is the target itself
  mode_t mode = 0755;
  std::optional<Owner> owner = std::nullopt;  // of the local directory
};

// The files that become visible on the case in one step.
struct Unit {
  std::string target;  // path relative to the case
  bool is_directory = false;
  std::vector<OutputDirectory> directories;  // directory units only
  std::vector<OutputFile> files;             // a file unit has exactly one
  // The file on the case that this one may replace, as it was when it was staged or last drained; nullopt: the name
  // must be new.
  std::optional<Identity> replaces;
  // File units: the file on the case that grows by the unit's one piece, as it was left there, which ends where the
  // piece begins. It replaces nothing then.
  std::optional<Identity> continues = std::nullopt;
  // The files and links of the directory on the case that this one may replace, by their paths in it, as they were when
  // they were staged or last drained, and the directories: it may hold fewer, but no others. nullopt: the name must be
  // new.
  std::optional<std::map<std::string, Identity>> replaces_directory = std::nullopt;
};

// One rank's directory of one time on this node.
struct RankTime {
  int rank = 0;
  std::string directory;           // absolute local path of processor<rank>/<time>, or of the copies kept aside
  std::vector<std::string> files;  // relative to `directory`, sorted
};

// verbatim: processor<rank>/<time> as the program wrote it. Modes, times and links are taken from the local files, hard
// links between them too.
Result<Unit> verbatim_time(const RankTime& rank_time, const std::string& time);

// verbatim: one file or link, as it is.
Result<Unit> verbatim_file(const std::string& local_path, const std::string& case_path,
                           std::optional<Identity> replaces);

// collated: processors<N>_<first>-<last>/<time> (processors<N> when these are all ranks), one decomposedBlockData file
// per field. `ranks` are consecutive and sorted. N is the number of ranks of the whole run. Dictionaries and uniform
// values are kept once, as OpenFOAM does; a rank without particles gets empty lists. Fields compressed by gzip become
// one compressed file of many members, those of the ranks as they are (of lists, but for the front that holds the
// header). They are inflated, for their size and as a proof that they are whole. A time that cannot be collated is an
// error that names the file, and the caller drains that time verbatim instead (all ranks of the group; other groups may
// stay collated): damaged compressed files, a field that one rank lacks, a dictionary that ranks do not agree on,
// links, a mesh whose faces are new at this time, blocks that OpenFOAM cannot count (2 GiB).
Result<Unit> collated_time(const std::vector<RankTime>& ranks, const std::string& time, int all_ranks);

// The value of FOAM_IORANKS with which -fileHandler collated finds these groups, for example "(0 2)".
std::string io_ranks(const std::vector<std::pair<int, int>>& groups);

}  // namespace forebay::layouts
