#include "segment/arrive.h"

#include "segment/writer.h"

namespace forebay::segment {

int arrive(Medium& medium, std::span<std::byte> to, std::span<const std::byte> from, const Extent& used,
           std::uint64_t store) noexcept {
  const auto copy = [&](std::uint64_t begin, std::uint64_t end) {
    return medium.store(to.data() + begin, from.data() + begin, end - begin);
  };
  int failed = retire(medium, to, store);
  if (failed == 0) failed = copy(kFirstRecord, used.headers);
  if (failed == 0) failed = copy(used.payloads, from.size());
  if (failed == 0) failed = medium.fence();
  if (failed == 0) failed = copy(0, kFirstRecord);
  if (failed == 0) failed = medium.fence();
  return failed;
}

}  // namespace forebay::segment
