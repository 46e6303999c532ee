// What devices tell of themselves in /sys. Internal to node.
#pragma once

#include <optional>
#include <string>

namespace forebay::node {

// Without what ends its last line; empty when it cannot be read.
std::string small_file(const std::string& path);

// The nearest numa_node from a device's directory upwards to `sys`, both with all links resolved: an NVDIMM's is at its
// region, an NVMe's at its PCI device.
std::optional<int> numa_node_above(std::string directory, const std::string& sys);

}  // namespace forebay::node
