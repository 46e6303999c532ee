// Checksums of payloads (XXH3-64), made where the bytes pass anyway: a copy into a segment is made in pieces that stay
// in the processor's cache from the checksum to the copy, so memory is read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/segment/format.h"
#include "store/segment/medium.h"

namespace forebay::segment {

class PayloadHash {
 public:
  PayloadHash();
  void add(const void* bytes, std::size_t count) noexcept;
  // Never 0, which stands for no checksum.
  std::uint64_t value() const noexcept;

 private:
  alignas(64) std::byte state_[576];
};

// Medium::store(), and the hash of what was stored. 0, or the errno of the medium.
int store_hashed(Medium& medium, void* to, const void* from, std::size_t bytes, PayloadHash& hash) noexcept;
// The check of a payload that lies where it is.
std::uint64_t payload_check(const void* payload, std::uint64_t bytes) noexcept;

// The headers of a segment's records, as they are to arrive elsewhere.
std::vector<RecordHeader> headers_of(std::span<const std::byte> segment, const Extent& used);
// Whether a record, here at its place in a list of headers, is whole as a header, with its payload within the segment.
bool is_record(const RecordHeader& header, std::uint64_t number, std::uint64_t store, std::uint64_t segment_bytes);
// Gives those that have no checksum one.
void add_checks(std::vector<RecordHeader>& headers, std::span<const std::byte> segment, std::uint64_t store);

// Bytes that were hashed in this process: while they were copied, and where they lay.
struct CheckCounts {
  std::uint64_t beside_copies = 0;
  std::uint64_t alone = 0;
};
CheckCounts check_counts() noexcept;

}  // namespace forebay::segment
