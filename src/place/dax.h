// Devices of persistent memory without a file system. Internal to place.
#pragma once

#include <string>
#include <vector>

#include "place/place.h"

namespace forebay::place {

// `sys` is "/sys" and `dev` "/dev", or a test's own trees.
std::vector<DaxDevice> dax_devices(const std::string& sys, const std::string& dev);

}  // namespace forebay::place
