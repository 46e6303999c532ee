// Persistent memory: mappings whose stores last after a flush from the processor's caches, without a system call.
#pragma once

#include <cstdint>
#include <optional>

#include "segment/medium.h"

namespace forebay::segment {

// How stores into such a mapping are made to last.
struct Persist {
  void (*flush)(const void* from, std::size_t bytes) = nullptr;
  void (*drain)() = nullptr;
  void* (*copy)(void* to, const void* from, std::size_t bytes, unsigned flags) = nullptr;
  unsigned copy_flags = 0;  // past the cache, without a drain
};
struct PersistentMapping {
  Mapping mapping;
  Persist persist;
};

// nullopt where the file does not lie on persistent memory, or no library is there to tell.
Result<std::optional<PersistentMapping>> map_persistent(int file, std::uint64_t offset, std::uint64_t bytes,
                                                        const std::string& path);

}  // namespace forebay::segment
