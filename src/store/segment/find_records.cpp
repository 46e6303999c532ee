#include "store/segment/find_records.h"

#include <algorithm>
#include <cstring>

namespace forebay::segment {
namespace {

// Judges a header where it may stand: behind the headers before it, its payload below all of theirs.
RecordState judge(const RecordHeader& header, std::uint64_t record, std::uint64_t payloads, std::uint64_t store,
                  std::uint64_t generation) {
  const std::uint64_t place = header_place(record);
  const std::uint64_t begin = payload_place(header.payload);
  if (header.generation != generation || header.record != record) return RecordState::none;
  if (begin < place + kLine || begin > payloads) return RecordState::none;
  const std::uint64_t room = payloads - begin;
  if (header.payload_bytes > room || round_to_lines(header.payload_bytes) > room) return RecordState::none;
  return state_of(header, store);
}

struct LinesInMemory {
  std::span<const std::byte> segment;
  RecordHeader read(std::uint64_t record) const {
    RecordHeader line;
    std::memcpy(&line, segment.data() + header_place(record), sizeof(line));
    return line;
  }
  static std::uint64_t after(std::uint64_t record) { return record + 1; }
};

template <class Lines, class Visit>
FoundRecords find_in_lines(std::uint64_t segment_bytes, Lines& lines, std::uint64_t store, const SegmentHeader& header,
                           const Visit& visit) {
  FoundRecords found;
  found.header = header;
  found.extent.payloads = segment_bytes;
  const bool sealed = header.payloads != 0;
  const std::uint64_t room = (segment_bytes - kFirstRecord) / kLine;
  const std::uint64_t most = sealed ? std::min(header.records, room) : room;
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
      record = lines.read(number);
      return judge(record, number, found.extent.payloads, store, header.generation);
    };
    const RecordState state = load_at(at);
    if (state != RecordState::none) {
      visit(record, state);
      ++found.records;
      ++at;
      found.extent = {header_place(at), payload_place(record.payload)};
      continue;
    }
    // The end, or damage: that is damage which committed records follow. Headers of records that were dropped and
    // whose room is being used again may stand behind the end.
    std::uint64_t next = lines.after(at);
    while (may_stand(next) && load_at(next) != RecordState::live) next = lines.after(next);
    const bool more = may_stand(next);
    if (!more) next = std::min({next, most, (found.extent.payloads - kFirstRecord) / kLine});
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

}  // namespace

FoundRecords find_records(std::span<const std::byte> segment, std::uint64_t store, const SegmentHeader& header,
                          const std::function<void(const RecordHeader&)>& visit) {
  const LinesInMemory lines{segment};
  return find_in_lines(segment.size(), lines, store, header, [&](const RecordHeader& record, RecordState state) {
    if (state == RecordState::live) visit(record);
  });
}

FoundRecords find_records(std::uint64_t segment_bytes, HeaderLines& lines, std::uint64_t store,
                          const SegmentHeader& header,
                          const std::function<void(const RecordHeader&, RecordState)>& visit) {
  return find_in_lines(segment_bytes, lines, store, header, visit);
}

}  // namespace forebay::segment
