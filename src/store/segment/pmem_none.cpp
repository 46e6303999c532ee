#include "store/segment/pmem.h"

namespace forebay::segment {

Result<std::optional<PersistentMapping>> map_persistent(int, std::uint64_t, std::uint64_t, const std::string&) {
  return std::nullopt;
}

}  // namespace forebay::segment
