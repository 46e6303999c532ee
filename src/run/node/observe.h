// The parts of observe() and observe_ways(). Internal to node. `sys` is "/sys" and `dev` "/dev", or a test's own trees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/node/mounts.h"

namespace forebay::node {

// In hwloc's logical order, the sockets outside this process's binding and control group included: the index of a
// socket must be the same for every process of the node. A machine without packages is one socket.
Result<std::vector<Socket>> load_sockets();

// A line of /proc/meminfo in bytes: memory_line(text, "MemAvailable").
std::optional<std::uint64_t> memory_line(std::string_view meminfo, std::string_view name);

// The least room that any control group from `self_cgroup` (the text of /proc/self/cgroup) up to its root leaves:
// version 2 where it manages memory, else version 1. nullopt when nothing limits.
std::optional<std::uint64_t> cgroup_headroom(std::string_view self_cgroup, const std::vector<MountLine>& mounts);

std::vector<DaxDevice> dax_devices(const std::string& sys, const std::string& dev);

// A file of /sys, without what ends its last line; empty when it cannot be read.
std::string small_file(const std::string& path);

// The nearest numa_node from a device's directory upwards to `sys`, both with all links resolved: an NVDIMM's is at its
// region, an NVMe's at its PCI device.
std::optional<int> numa_node_above(std::string directory, const std::string& sys);

// Whether private mount namespaces work. A child does it: unshare (with a user namespace of its own or without), uid
// and gid mapped to themselves, mounts made private, one directory bound. The error names the step that failed.
Status try_namespaces(bool user_namespace);

}  // namespace forebay::node
