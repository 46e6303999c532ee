// Copies that go past the cache, for memory that will not be read again soon.
#pragma once

#include <cstddef>

namespace forebay::segment {

// x86 hands what waits to be stored to a load only when one store holds all of it; else the load waits until every
// store before has left the processor: behind a streamed payload of 4 KiB for 60 ns. Data that is loaded soon after it
// was made (a header, an entry of an index) is therefore stored, and copied, word by word.

// memcpy by non-temporal stores where the processor has them. `to` is aligned to 64 bytes. Ordered before later stores
// only by fence_stores(). Every byte of the destination's last line that lies behind `bytes` stays as it is.
void stream(void* to, const void* from, std::size_t bytes) noexcept;

// All stores of this thread, streamed ones too, come before what follows, for other threads and for the medium.
void fence_stores() noexcept;
// The same for memory that survives the death of the process and no more: a process dies between two instructions, and
// everything that it stored before is there. So this binds the compiler only, where a fence would wait for the memory.
void order_stores() noexcept;

}  // namespace forebay::segment
