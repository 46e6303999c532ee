// Memory beside the tiers for segments that are read from tiers without memory: a few buffers, made when they are first
// needed. The segments in them are copies, and can be given up at any time that nobody reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "store/segment/segment.h"
#include "store/trajectory/log.h"

namespace forebay::trajectory {

class ReadCache {
 public:
  // Two that a caller pins, as for an interpolation of its own, the one that is read, and the one that comes next.
  static constexpr std::uint32_t kBuffers = 4;

  std::span<std::byte> bytes(std::uint32_t buffer) const { return buffers_[buffer].memory.bytes; }
  // A buffer that holds nothing; kNone.
  std::uint32_t free() const {
    for (std::uint32_t i = 0; i < kBuffers; ++i) {
      if (buffers_[i].segment == kNone && !buffers_[i].busy) return i;
    }
    return kNone;
  }
  bool has_memory(std::uint32_t buffer) const { return !buffers_[buffer].memory.bytes.empty(); }
  void give_memory(std::uint32_t buffer, segment::Mapping memory) { buffers_[buffer].memory = std::move(memory); }
  void set_busy(std::uint32_t buffer, bool busy) { buffers_[buffer].busy = busy; }
  void put(std::uint32_t buffer, std::uint32_t segment) { buffers_[buffer].segment = segment; }
  void give_up(std::uint32_t buffer) { buffers_[buffer].segment = kNone; }
  // The segment in each; kNone.
  std::uint32_t segment_in(std::uint32_t buffer) const { return buffers_[buffer].segment; }
  void clear() {
    for (Buffer& buffer : buffers_) buffer.segment = kNone;
  }

 private:
  struct Buffer {
    segment::Mapping memory;
    std::uint32_t segment = kNone;
    bool busy = false;  // it is being filled
  };
  Buffer buffers_[kBuffers];
};

}  // namespace forebay::trajectory
