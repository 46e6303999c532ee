// Finds the records of a segment that a process left behind. All that is read is checked before it is used.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "store/segment/format.h"

namespace forebay::segment {

struct FoundRecords {
  SegmentHeader header;
  Extent extent;
  std::uint64_t records = 0;  // dropped ones too
  // Stretches of headers that were there, or must have been, and cannot be read; no more than kDamageLimit of them are
  // listed.
  struct Damage {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };
  std::vector<Damage> damages;
  std::uint64_t damage_count = 0;
};
constexpr std::size_t kDamageLimit = 16;

// `visit` gets the records that count, in the order of their commits. Reads headers only, unless a segment that was not
// sealed ends early: then it searches the rest for headers, so that one bad line costs one record.
FoundRecords find_records(std::span<const std::byte> segment, std::uint64_t store, const SegmentHeader& header,
                          const std::function<void(const RecordHeader&)>& visit);
// Headers of records that lie in a file and are read one by one.
class HeaderLines {
 public:
  virtual ~HeaderLines() = default;
  virtual RecordHeader read(std::uint64_t record) = 0;
  // The first number behind this one whose line is more than zeros, as far as that is known without reading it.
  virtual std::uint64_t after(std::uint64_t record) = 0;
};
// Finds records by such headers. `visit` gets dropped records, too, with their state.
FoundRecords find_records(std::uint64_t segment_bytes, HeaderLines& lines, std::uint64_t store,
                          const SegmentHeader& header,
                          const std::function<void(const RecordHeader&, RecordState)>& visit);

}  // namespace forebay::segment
