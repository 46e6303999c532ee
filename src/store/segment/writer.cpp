#include "store/segment/writer.h"

#include <cstring>
#include <limits>

#include "store/segment/check.h"

namespace forebay::segment {

int Writer::start(Medium& medium, std::span<std::byte> segment, Store store, std::uint64_t generation,
                  std::uint64_t epoch) {
  medium_ = &medium;
  segment_ = segment;
  store_ = store;
  extent_ = {kFirstRecord, segment.size()};
  highest_ = std::numeric_limits<std::int64_t>::min();
  const auto old = newest_header(segment.first<kFirstRecord>(), store.id);
  next_line_ = old ? 1 - old->which : 0;
  header_ = {};
  header_.generation = generation;
  header_.serial = old ? old->header.serial + 1 : 1;
  header_.epoch = epoch;
  return write_headers();
}

// Into both lines, so that damage of one brings nothing older back.
int Writer::write_headers() noexcept {
  const int failed = write_header();
  return failed != 0 ? failed : write_header();
}

int Writer::write_header() noexcept {
  seal_header(header_, store_.id);
  if (const int failed = medium_->store(segment_.data() + next_line_ * kLine, &header_, kLine); failed != 0) {
    return failed;
  }
  next_line_ = 1 - next_line_;
  ++header_.serial;
  return medium_->fence();
}

int Writer::commit(std::int64_t step, double time, std::uint64_t payload_bytes, Payload how,
                   std::uint64_t check) noexcept {
  const std::byte* const memory = payload(payload_bytes);
  if (how == Payload::written) {
    if (const int failed = medium_->flush(memory, payload_bytes); failed != 0) return failed;
  }
  RecordHeader header;
  header.generation = header_.generation;
  header.step = step;
  header.time = time;
  header.payload_bytes = payload_bytes;
  header.payload_check = check != 0 || !store_.payload_checks ? check : payload_check(memory, payload_bytes);
  // Both in one store, as their check loads both at once (copy.h).
  static_assert(offsetof(RecordHeader, payload) == offsetof(RecordHeader, record) + sizeof(header.record));
  const std::uint32_t line = payload_line(payload_bytes);
  const std::uint64_t both = record() | std::uint64_t{line} << 32;
  std::memcpy(reinterpret_cast<std::byte*>(&header) + offsetof(RecordHeader, record), &both, sizeof(both));
  seal_header(header, store_.id);
  if (const int failed = medium_->fence(); failed != 0) return failed;
  int failed = medium_->store(segment_.data() + extent_.headers, &header, kLine);
  if (failed == 0) failed = medium_->fence();
  if (failed != 0) {
    // Its room is the next one's: were the header to last, it would name another payload.
    (void)mark_dropped(*medium_, segment_, record());
    return failed;
  }
  extent_.headers += kLine;
  extent_.payloads = payload_place(line);
  if (step > highest_) highest_ = step;
  // Stores leave the processor in their order: without its line at hand, a header would hold the next payload up.
  __builtin_prefetch(segment_.data() + extent_.headers + 4 * kLine, 1);
  return 0;
}

int Writer::drop(std::uint32_t number) noexcept {
  // Before its room is used again, so that no crash finds its header before another payload.
  if (const int failed = mark_dropped(*medium_, segment_, number); failed != 0) return failed;
  if (number + 1 != record()) return 0;
  extent_.headers = header_place(number);
  RecordHeader dropped;
  std::memcpy(&dropped, segment_.data() + extent_.headers, sizeof(dropped));
  extent_.payloads += round_to_lines(dropped.payload_bytes);
  return 0;
}

int Writer::seal() noexcept {
  header_.payloads = extent_.payloads;
  header_.records = record();
  return write_headers();
}

int mark_dropped(Medium& medium, std::span<std::byte> segment, std::uint32_t record) noexcept {
  std::byte* const header = segment.data() + header_place(record);
  RecordHeader found;
  std::memcpy(&found, header, sizeof(found));
  const std::uint64_t state = dropped_state(found);
  if (const int failed = medium.store(header + offsetof(RecordHeader, state), &state, sizeof(state)); failed != 0) {
    return failed;
  }
  return medium.fence();
}

int retire(Medium& medium, std::span<std::byte> segment, std::uint64_t store) noexcept {
  std::byte lines[kFirstRecord];
  std::memcpy(lines, segment.data(), sizeof(lines));
  // Both lines, so that no damage of one brings the segment back.
  for (int i = 0; i < 2; ++i) {
    const std::size_t at = set_free(lines, store) * kLine;
    if (const int failed = medium.store(segment.data() + at, lines + at, kLine); failed != 0) return failed;
    if (const int failed = medium.fence(); failed != 0) return failed;
  }
  return 0;
}

}  // namespace forebay::segment
