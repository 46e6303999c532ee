#include "run/node/observe.h"

#include "base/base.h"

namespace forebay::node {

std::string small_file(const std::string& path) {
  auto content = read_file(path, 4096);
  if (!content) return {};
  while (!content->empty() && (content->back() == '\n' || content->back() == ' ')) content->pop_back();
  return *content;
}

std::optional<int> numa_node_above(std::string directory, const std::string& sys) {
  for (; is_below(directory, sys) && directory != sys; directory = parent_of(directory)) {
    const auto node = parse_integer(small_file(directory + "/numa_node"));
    if (node && *node >= 0) return static_cast<int>(*node);
  }
  return std::nullopt;
}

}  // namespace forebay::node
