#include "launch/meetings.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <string>

#include "base/base.h"
#include "launch/plan.h"
#include "launch/processes.h"
#include "launch/protocol.h"

namespace forebay::launch {
namespace {

bool is_stale(const std::string& directory, const std::string& run, std::chrono::seconds age) {
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid())
    return false;
  if (std::time(nullptr) - status.st_mtime < age.count()) return false;
  const auto lock = open_file(join(directory, "lock"), O_RDWR | O_NOFOLLOW);
  if (lock && ::flock(lock->get(), LOCK_EX | LOCK_NB) != 0) return false;
  return processes_of(run).empty();
}

}  // namespace

int remove_stale_meetings(std::chrono::seconds age) {
  const std::string above(parent_of(meeting_directory("")));
  struct stat status {};
  // What others may write to is not ours to tidy.
  if (::lstat(above.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & 0022) != 0)
    return 0;
  const std::string host = "-" + host_name();
  int removed = 0;
  const auto entries = list_directory(above);
  if (!entries) return 0;
  for (const DirectoryEntry& entry : *entries) {
    if (entry.type != DT_DIR || !entry.name.ends_with(host)) continue;
    const std::string directory = join(above, entry.name);
    if (!is_stale(directory, entry.name.substr(0, entry.name.size() - host.size()), age)) continue;
    if (remove_tree(directory)) ++removed;
  }
  return removed;
}

}  // namespace forebay::launch
