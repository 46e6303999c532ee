// A piece of mapped memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace forebay::segment {

// A mapping, which ends with its last owner.
struct Mapping {
  std::span<std::byte> bytes;
  std::shared_ptr<void> owner;
};

}  // namespace forebay::segment
