// Copies of items whose size the compiler knows: one or two instructions instead of a call.
#pragma once

#include <cstddef>

namespace forebay::blocks {

template <std::size_t bytes>
struct Known {
  static constexpr std::size_t value() { return bytes; }
};
struct Any {
  std::size_t bytes;
  std::size_t value() const { return bytes; }
};

// Calls act(size) with a Known of the usual sizes, or with Any.
template <class Act>
void with_size(std::size_t item_bytes, Act act) {
  switch (item_bytes) {
    case 1:
      return act(Known<1>{});
    case 4:
      return act(Known<4>{});
    case 8:
      return act(Known<8>{});
    case 16:
      return act(Known<16>{});
    case 24:
      return act(Known<24>{});
    default:
      return act(Any{item_bytes});
  }
}

}  // namespace forebay::blocks
