#include "segment/walk.h"

#include <algorithm>
#include <cstring>

namespace forebay::segment {
namespace {

// Loads the header of a record where it may stand: behind the headers before it, its payload below all of theirs.
RecordState load(std::span<const std::byte> segment, std::uint64_t record, std::uint64_t payloads, std::uint64_t store,
                 std::uint64_t generation, RecordHeader& header) {
  const std::uint64_t place = header_place(record);
  std::memcpy(&header, segment.data() + place, sizeof(header));
  const std::uint64_t begin = payload_place(header.payload);
  if (header.generation != generation || header.record != record) return RecordState::none;
  if (begin < place + kLine || begin > payloads) return RecordState::none;
  const std::uint64_t room = payloads - begin;
  if (header.payload_bytes > room || round_to_lines(header.payload_bytes) > room) return RecordState::none;
  return state_of(header, store);
}

}  // namespace

Walk walk(std::span<const std::byte> segment, std::uint64_t store, const SegmentHeader& header,
          const std::function<void(const RecordHeader&)>& visit) {
  Walk found;
  found.header = header;
  found.extent.payloads = segment.size();
  const bool sealed = header.payloads != 0;
  const std::uint64_t lines = (segment.size() - kFirstRecord) / kLine;
  const std::uint64_t most = sealed ? std::min(header.records, lines) : lines;
  const auto may_stand = [&](std::uint64_t record) {
    return record < most && header_place(record) + kLine <= found.extent.payloads;
  };
  const auto damage = [&](std::uint64_t from, std::uint64_t to) {
    ++found.damage_count;
    if (found.damages.size() < kDamageLimit) found.damages.push_back({from, to});
  };

  for (std::uint64_t at = 0; may_stand(at);) {
    RecordHeader record;
    const auto load_at = [&](std::uint64_t number) {
      return load(segment, number, found.extent.payloads, store, header.generation, record);
    };
    const RecordState state = load_at(at);
    if (state != RecordState::none) {
      if (state == RecordState::live) visit(record);
      ++found.records;
      ++at;
      found.extent = {header_place(at), payload_place(record.payload)};
      continue;
    }
    // The end, or damage: that is damage which committed records follow. Headers of records that were dropped and
    // whose room is being used again may stand behind the end.
    std::uint64_t next = at + 1;
    while (may_stand(next) && load_at(next) != RecordState::live) ++next;
    const bool more = may_stand(next);
    if (more || sealed) damage(header_place(at), header_place(next));
    if (!more) break;
    at = next;
  }
  if (!sealed) return found;
  if (found.damage_count == 0 && (found.extent.payloads != header.payloads || found.records != header.records)) {
    damage(found.extent.headers, header_place(most));
  }
  found.extent = {header_place(most), std::min(found.extent.payloads, header.payloads)};
  return found;
}

}  // namespace forebay::segment
