#include "store/segment/arrive.h"

#include "store/segment/check.h"
#include "store/segment/writer.h"

namespace forebay::segment {

int arrive(Medium& medium, std::span<std::byte> to, std::span<const std::byte> from, const Extent& used,
           std::uint64_t store, bool checks) {
  std::uint64_t left = from.size();  // payloads are copied from the end of the segment downwards, to here
  const auto copy = [&](std::uint64_t begin) {
    const int failed = medium.store(to.data() + begin, from.data() + begin, left - begin);
    left = begin;
    return failed;
  };
  auto headers = headers_of(from, used);
  int failed = retire(medium, to, store);
  for (std::size_t i = 0; checks && failed == 0 && i < headers.size(); ++i) {
    RecordHeader& header = headers[i];
    const std::uint64_t begin = payload_place(header.payload);
    const bool next = is_record(header, i, store, from.size()) && begin + round_to_lines(header.payload_bytes) == left;
    if (!next || begin < used.payloads) break;
    if (header.payload_check != 0) {
      failed = copy(begin);
      continue;
    }
    PayloadHash hash;
    failed = store_hashed(medium, to.data() + begin, from.data() + begin, header.payload_bytes, hash);
    left = begin;
    const RecordState state = state_of(header, store);
    header.payload_check = hash.value();
    seal_header(header, store, state);
  }
  if (failed == 0 && left > used.payloads) failed = copy(used.payloads);
  if (failed == 0) failed = medium.store(to.data() + kFirstRecord, headers.data(), headers.size() * kLine);
  if (failed == 0) failed = medium.fence();
  if (failed == 0) failed = medium.store(to.data(), from.data(), kFirstRecord);
  if (failed == 0) failed = medium.fence();
  return failed;
}

}  // namespace forebay::segment
