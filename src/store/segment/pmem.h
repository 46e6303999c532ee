// Persistent memory: mappings whose stores last after a flush from the processor's caches, without a system call.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "base/base.h"
#include "store/segment/mapping.h"

namespace forebay::segment {

// How stores into such a mapping are made to last.
struct Persist {
  void (*flush)(const void* from, std::size_t bytes) = nullptr;
  void (*drain)() = nullptr;
  void* (*copy)(void* to, const void* from, std::size_t bytes, unsigned flags) = nullptr;
  unsigned copy_flags = 0;  // past the cache, without a drain

  // Lasts when this returns.
  void write(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
    flush(to, bytes);
    drain();
  }
  // The same for a word, which is there whole or not at all.
  void write_word(std::uint64_t& to, std::uint64_t word) const {
    std::atomic_ref(to).store(word, std::memory_order_release);
    flush(&to, sizeof(to));
    drain();
  }
};
struct PersistentMapping {
  Mapping mapping;
  Persist persist;
};

// nullopt where the file does not lie on persistent memory, or no library is there to tell.
Result<std::optional<PersistentMapping>> map_persistent(int file, std::uint64_t offset, std::uint64_t bytes,
                                                        const std::string& path);

// The size of a device of persistent memory.
Result<std::uint64_t> bytes_of_device(int file, const std::string& path);

}  // namespace forebay::segment
