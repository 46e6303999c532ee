// Devices of persistent memory without a file system. Internal to node.
#pragma once

#include <string>
#include <vector>

#include "run/node/node.h"

namespace forebay::node {

// `sys` is "/sys" and `dev` "/dev", or a test's own trees.
std::vector<DaxDevice> dax_devices(const std::string& sys, const std::string& dev);

}  // namespace forebay::node
