#include "run/drain/placed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/base.h"

namespace forebay::drain {

bool is_placed(std::string_view target, const std::vector<std::string>& placed) {
  const std::string_view name = name_of(target);
  if (name.empty() || name.starts_with('.')) return false;
  return std::find(placed.begin(), placed.end(), parent_of(target)) != placed.end();
}

std::string content_of(const std::string& local, const std::vector<std::string>& placed) {
  if (placed.empty()) return local;
  auto target = read_link(local);
  struct stat status {};
  if (!target || !is_placed(*target, placed)) return local;
  return ::lstat(target->c_str(), &status) == 0 && S_ISREG(status.st_mode) ? *target : local;
}

bool replace_placed(const std::string& replacement, const std::string& local, const std::string& content) {
  // A second name of the link itself, which nobody else knows: when it is the last one, the file has none either.
  const std::string second = replacement + "-placed";
  ::unlink(second.c_str());
  if (::linkat(AT_FDCWD, local.c_str(), AT_FDCWD, second.c_str(), 0) != 0) return false;
  const auto target = read_link(second);
  const bool done = target && *target == content && ::rename(replacement.c_str(), local.c_str()) == 0;
  struct stat link {};
  if (done && ::lstat(second.c_str(), &link) == 0 && link.st_nlink == 1) ::unlink(content.c_str());
  ::unlink(second.c_str());
  return done;
}

}  // namespace forebay::drain
