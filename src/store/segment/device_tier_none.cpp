#include "store/segment/device_tier.h"

namespace forebay::segment {

Result<DeviceTier> open_device_tier(const std::string& path, const std::string&, bool, std::uint64_t) {
  return error(Code::bad_input, "this forebay was built without FOREBAY_DEVDAX, which devices need:", path,
               "make a file system on the device and mount that, or build forebay with -DFOREBAY_DEVDAX=ON");
}

}  // namespace forebay::segment
