// Writes records into one segment, one after the other: headers upwards, payloads downwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "store/segment/format.h"
#include "store/segment/medium.h"

namespace forebay::segment {

// Not thread-safe. All members that return int: 0, or the errno of the medium.
class Writer {
 public:
  struct Store {
    std::uint64_t id = 0;  // StoreHead::store
    bool payload_checks = false;
  };

  // Begins a use of the segment: what it held counts no more once this has returned.
  int start(Medium& medium, std::span<std::byte> segment, Store store, std::uint64_t generation, std::uint64_t epoch);

  bool has_room(std::uint64_t payload_bytes) const noexcept {
    return payload_bytes <= segment_.size() &&
           kLine + round_to_lines(payload_bytes) <= extent_.payloads - extent_.headers;
  }
  // Whether the next record leaves less than half of the segment; has_room() holds.
  bool half_full_with(std::uint64_t payload_bytes) const noexcept {
    return extent_.payloads - extent_.headers - kLine - round_to_lines(payload_bytes) < segment_.size() / 2;
  }
  // The line of the next record, whose payload has so many bytes; has_room() holds.
  std::uint32_t payload_line(std::uint64_t payload_bytes) const noexcept {
    return static_cast<std::uint32_t>((extent_.payloads - round_to_lines(payload_bytes)) / kLine);
  }
  std::byte* payload(std::uint64_t payload_bytes) const noexcept {
    return segment_.data() + payload_place(payload_line(payload_bytes));
  }
  // Its number.
  std::uint32_t record() const noexcept { return static_cast<std::uint32_t>((extent_.headers - kFirstRecord) / kLine); }

  // The next payload is complete; when it was written by the medium's store(), it is flushed already. `check`: its
  // checksum, where that was made on the way.
  enum class Payload { written, stored };
  int commit(std::int64_t step, double time, std::uint64_t payload_bytes, Payload how,
             std::uint64_t check = 0) noexcept;

  // Marks a record as dropped; the room of the last one is used again.
  int drop(std::uint32_t record) noexcept;
  // No more records: from now on a reopening knows how many there must be.
  int seal() noexcept;

  bool checks() const noexcept { return store_.payload_checks; }
  Extent extent() const noexcept { return extent_; }
  std::uint64_t generation() const noexcept { return header_.generation; }
  // The highest of the steps that were committed here.
  std::int64_t highest() const noexcept { return highest_; }

 private:
  int write_headers() noexcept;
  int write_header() noexcept;

  Medium* medium_ = nullptr;
  std::span<std::byte> segment_;
  Store store_;
  SegmentHeader header_;
  unsigned next_line_ = 0;
  std::int64_t highest_ = 0;
  Extent extent_;
};

// Marks a record as dropped.
int mark_dropped(Medium& medium, std::span<std::byte> segment, std::uint32_t record) noexcept;
// Marks a segment as free; at no moment does an older header of it count instead.
int retire(Medium& medium, std::span<std::byte> segment, std::uint64_t store) noexcept;
}  // namespace forebay::segment
