#include "run/tree/links.h"

#include <cstddef>
#include <vector>

#include "base/base.h"

namespace forebay::tree {

bool leads_out(std::string_view directory, std::string_view target) {
  if (target.starts_with('/')) return false;
  const auto names = [](std::string_view path) {
    std::vector<std::string_view> found;
    for (const std::string_view name : split(path, '/'))
      if (!name.empty() && name != ".") found.push_back(name);
    return found;
  };
  auto depth = static_cast<std::ptrdiff_t>(names(directory).size());
  for (const std::string_view name : names(target))
    if ((depth += name == ".." ? -1 : 1) < 0) return true;
  return false;
}

}  // namespace forebay::tree
