// A tier of a store on a device of persistent memory: built with FOREBAY_DEVDAX (device_tier_range.cpp), or refused
// (device_tier_none.cpp).
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "store/segment/home.h"
#include "store/segment/medium.h"

namespace forebay::segment {

// Whether there is a device under that name, and not a directory.
inline bool is_device(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode);
}

struct DeviceTier {
  std::unique_ptr<StoreHome> home;
  std::unique_ptr<Medium> medium;  // uses the home
};

// The range of the store of this name. `budget`: bytes of segments, where nothing was kept under it.
Result<DeviceTier> open_device_tier(const std::string& path, const std::string& name, bool kept, std::uint64_t budget);

}  // namespace forebay::segment
