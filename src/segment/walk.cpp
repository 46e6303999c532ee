#include "segment/walk.h"

#include <algorithm>
#include <cstring>

namespace forebay::segment {
namespace {

// Loads a header where one may stand; `limit` is where the segment's records must end.
RecordState load(std::span<const std::byte> segment, std::uint64_t place, std::uint64_t limit, std::uint64_t store,
                 std::uint64_t generation, RecordHeader& header) {
  if (place > limit || limit - place < kLine) return RecordState::none;
  std::memcpy(&header, segment.data() + place, sizeof(header));
  if (header.generation != generation || header.place != place) return RecordState::none;
  const std::uint64_t room = limit - place - kLine;
  if (header.payload_bytes > room || round_to_lines(header.payload_bytes) > room) return RecordState::none;
  return state_of(header, store);
}

}  // namespace

Walk walk(std::span<const std::byte> segment, std::uint64_t store, const SegmentHeader& header,
          const std::function<void(const RecordHeader&)>& visit) {
  Walk found;
  found.header = header;
  found.end = kFirstRecord;
  const bool sealed = header.sealed_end != 0;
  const std::uint64_t limit = sealed ? std::min<std::uint64_t>(header.sealed_end, segment.size()) : segment.size();
  const auto damage = [&](std::uint64_t from, std::uint64_t to) {
    ++found.damage_count;
    if (found.damages.size() < kDamageLimit) found.damages.push_back({from, to});
  };

  std::uint64_t at = kFirstRecord;
  while (at < limit) {
    RecordHeader record;
    const RecordState state = load(segment, at, limit, store, header.generation, record);
    if (state != RecordState::none) {
      if (state == RecordState::live) visit(record);
      ++found.records;
      const std::uint64_t whole = kLine + round_to_lines(record.payload_bytes);
      // Most steps have one size: the header after the next few is worth asking for early.
      if (limit - at > 4 * whole) __builtin_prefetch(segment.data() + at + 4 * whole);
      at += whole;
      found.end = at;
      continue;
    }
    // The end, or damage: that is damage which committed records follow. Headers of records that were dropped and
    // whose room is being used again may stand behind the end.
    std::uint64_t next = at + kLine;
    while (next < limit && load(segment, next, limit, store, header.generation, record) != RecordState::live) {
      next += kLine;
    }
    if (next < limit || sealed) damage(at, std::min(next, limit));
    if (next >= limit) break;
    at = next;
  }
  if (sealed && found.damage_count == 0 && (found.end != header.sealed_end || found.records != header.records)) {
    damage(found.end, header.sealed_end);
  }
  if (sealed) found.end = limit;
  return found;
}

}  // namespace forebay::segment
