#include "run/drain/placed.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/base.h"

namespace forebay::drain {

bool is_placed(std::string_view target, const std::vector<std::string>& placed) {
  const std::string_view name = name_of(target);
  if (name.empty() || name.starts_with('.')) return false;
  return std::ranges::find(placed, parent_of(target)) != placed.end();
}

std::string pool_of_placed(std::string_view target) {
  return std::string(parent_of(parent_of(target)));
}

std::string content_of(const std::string& local, const std::vector<std::string>& placed) {
  if (placed.empty()) return local;
  auto target = read_link(local);
  struct stat status {};
  if (!target || !is_placed(*target, placed)) return local;
  return ::lstat(target->c_str(), &status) == 0 && S_ISREG(status.st_mode) ? *target : local;
}

}  // namespace forebay::drain
