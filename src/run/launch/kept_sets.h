// Kept sets: the warm files of a case (run/tree/warm.h) that a pool holds beside the runs, and what `forebay stage` has
// copied so far (stage_ahead.h). Nothing of them is only there: the case has it all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/base.h"
#include "run/launch/pool_run.h"

namespace forebay::launch {

// Tells by its name whether a directory of the user in a pool is a run; else it is such a set.
bool is_run_name(std::string_view name);
std::string warm_directory(const std::string& pool_path, const std::string& case_path);
std::string ahead_directory(const std::string& pool_path, const std::string& case_path);
// The directory of the copies, below an ahead directory.
inline constexpr const char* ahead_tree_name = "tree";
// The warm directories of a run's case in each of its pools; that of its home first.
std::vector<std::string> warm_directories(const PoolRun& run);
// Notes in such a directory which case it is of, for people.
Status name_case(const std::string& directory, const std::string& case_path);
// The lock of an ahead directory; Code::busy when a `forebay stage` works in it.
Result<Descriptor> lock_ahead(const std::string& directory);

struct KeptSet {
  std::string directory, case_path;  // the case: empty where that is not known
  bool ahead = false;                // it is still being copied, or that was interrupted
  std::uint64_t files = 0, bytes = 0;
};
// The sets that these pools keep of `case_path`, or of all cases when it is empty.
std::vector<KeptSet> find_kept(const std::vector<std::string>& pool_paths, const std::string& case_path);
// False: a `forebay stage` works in it.
Result<bool> remove_kept(const KeptSet& set);

}  // namespace forebay::launch
