// Copies that go past the cache, for memory that will not be read again soon.
#pragma once

#include <cstddef>

namespace forebay::segment {

// memcpy by non-temporal stores where the processor has them. `to` is aligned to 64 bytes. Ordered before later stores
// only by fence_stores(). Every byte of the destination's last line that lies behind `bytes` stays as it is.
void stream(void* to, const void* from, std::size_t bytes) noexcept;

// All stores of this thread, streamed ones too, come before what follows.
void fence_stores() noexcept;

}  // namespace forebay::segment
