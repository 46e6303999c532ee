#include "store/segment/device_tier.h"
#include "store/segment/range.h"

namespace forebay::segment {

Result<DeviceTier> open_device_tier(const std::string& path, const std::string& name, bool kept, std::uint64_t budget) {
  auto device = Device::open(path);
  if (!device) return forward(device);
  auto opened = StoreRange::open(std::move(*device), name, kept, budget);
  if (!opened) return forward(opened);
  auto range = std::make_unique<StoreRange>(std::move(*opened));
  auto medium = memory_of_range(*range);
  return DeviceTier{std::move(range), std::move(medium)};
}

}  // namespace forebay::segment
