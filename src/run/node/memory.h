// Memory of the node and of the control groups around this process. Internal to node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/node/mounts.h"

namespace forebay::node {

// A line of /proc/meminfo in bytes: memory_line(text, "MemAvailable").
std::optional<std::uint64_t> memory_line(std::string_view meminfo, std::string_view name);

// The least room that any control group from `self_cgroup` (the text of /proc/self/cgroup) up to its root leaves:
// version 2 where it manages memory, else version 1. nullopt when nothing limits.
std::optional<std::uint64_t> cgroup_headroom(std::string_view self_cgroup, const std::vector<MountLine>& mounts);

}  // namespace forebay::node
