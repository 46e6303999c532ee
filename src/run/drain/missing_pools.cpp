// Pools that are not there at the end of a run, emptied by somebody or not mounted, and files that somebody has removed
// from a dead run's pool.
#include <fmt/format.h>
#include <sys/stat.h>

#include "run/advice/commands.h"
#include "run/drain/placed.h"
#include "run/drain/state.h"

namespace forebay::drain {
namespace {

// The device of the file system on which `path` is, or would be.
dev_t device_of(std::string path) {
  struct stat status {};
  while (::stat(path.c_str(), &status) != 0 && path.size() > 1) path = std::string(parent_of(path));
  return status.st_dev;
}

}  // namespace

// A file of the case whose content lay in a pool that is not there.
void End::note_missing(const std::string& path, const std::string& content) {
  missing_[pool_of_placed(content)].insert(path);
}

// A pool that was wiped looks like a program that removed everything: its sentinel tells the two apart. Files in the
// other pools are carried all the same, and nothing is removed from the case.
void End::tell_missing_pools() {
  for (const Root& root : run_.roots)
    if (!name_exists(join(root.pool, sentinel_name)) || !name_exists(root.local))
      missing_[root.pool].insert(root.prefix.empty() ? "all that is in no other pool" : root.prefix + "/");
  for (const std::string& directory : run_.request.placed)
    if (const std::string pool(parent_of(directory)); !name_exists(join(pool, sentinel_name))) missing_[pool];
  for (const auto& [pool, names] : missing_) {
    const std::string held = names.empty() ? "what it held" : listed(names, names_told);
    const auto device = run_.request.devices.find(pool);
    if (device != run_.request.devices.end() && device_of(pool) != device->second) {
      run_.note(
          Code::undrained,
          fmt::format("the pool {} is on a file system that is not mounted here now, and with it {}: what lies in "
                      "other pools is carried, and nothing is removed from the case; mount it again, and run {} "
                      "(what was in the memory of a node that was restarted is gone)",
                      printable(pool), held, advice::resume(run_.case_now())));
    } else {
      run_.note(
          Code::lost,
          fmt::format("the pool {} was emptied while the run used it: {} was there, and what was not drained "
                      "before is gone; what lies in other pools is carried, and nothing is removed from the case; "
                      "go on from the time that is safe, with a pool that nothing empties (--pool)",
                      printable(pool), held));
    }
  }
}

void End::tell_missing_files() {
  if (missing_files_.empty()) return;
  const std::string case_now = run_.case_now();
  run_.note(
      Code::lost,
      fmt::format("{} of the program that the case does not have {} removed from the pool after the run had died, "
                  "by something that removes old files there or by hand: {}; all else is carried, and nothing is "
                  "removed from the case. Put back what you have, or accept the loss with {}, then {}; for the "
                  "next run take a pool that nothing empties (--pool)",
                  plural(missing_files_.size(), "file"), missing_files_.size() == 1 ? "was" : "were",
                  listed(missing_files_, names_told), advice::drop(case_now, *missing_files_.begin()),
                  advice::resume(case_now)));
}

}  // namespace forebay::drain
