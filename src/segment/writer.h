// Writes records into one segment, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "segment/format.h"
#include "segment/medium.h"

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
    return payload_bytes <= segment_.size() && at_ + kLine + round_to_lines(payload_bytes) <= segment_.size();
  }
  // Where the next payload goes; has_room() holds.
  std::byte* payload() const noexcept { return segment_.data() + at_ + kLine; }
  // Of the next record's header.
  std::uint64_t place() const noexcept { return at_; }

  // The next payload is complete; when it was written by the medium's store(), it is flushed already.
  enum class Payload { written, stored };
  int commit(std::int64_t step, double time, std::uint64_t payload_bytes, Payload how) noexcept;

  // Takes the last record back, which was marked as dropped: its room is used again.
  void take_back(std::uint64_t place) noexcept;
  // No more records: from now on a reopening knows how many there must be.
  int seal() noexcept;

  std::uint64_t end() const noexcept { return at_; }
  std::uint64_t generation() const noexcept { return header_.generation; }

 private:
  int write_header() noexcept;

  Medium* medium_ = nullptr;
  std::span<std::byte> segment_;
  Store store_;
  SegmentHeader header_;
  unsigned next_line_ = 0;
  std::uint64_t at_ = kFirstRecord;
  std::uint64_t records_ = 0;
};

// Marks a record as dropped.
int mark_dropped(Medium& medium, std::byte* header) noexcept;
// Takes the headers of a segment away, the one that counts last, so that at no moment an older one counts instead.
int retire(Medium& medium, std::span<std::byte> segment, std::uint64_t store) noexcept;
// XXH3-64 of a payload, never 0.
std::uint64_t payload_check(const void* payload, std::uint64_t bytes) noexcept;

}  // namespace forebay::segment
