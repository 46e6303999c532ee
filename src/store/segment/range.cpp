#include "store/segment/range.h"

#include <algorithm>
#include <cstring>

namespace forebay::segment {

static_assert(kStoreFileBytes <= kDeviceUnit);

Result<StoreRange> StoreRange::open(Device device, const std::string& name, bool kept, std::uint64_t budget) {
  auto range = device.take(kept ? name : "", kDeviceUnit + budget);
  if (!range) return forward(range);
  return StoreRange(std::move(device), *range, name, kept);
}

bool StoreRange::has_segments() const {
  const auto found = read_head();
  if (!found || !*found) return false;
  const StoreHead& head = (*found)->head;
  const std::uint64_t step = std::max<std::uint64_t>(head.segment_bytes, kFirstRecord);
  for (auto rest = segments(); rest.size() >= step; rest = rest.subspan(step)) {
    if (header_in_use(rest.first<kFirstRecord>(), head.store)) return true;
  }
  return false;
}

Result<std::optional<DecodedHead>> StoreRange::read_head() const {
  if (!range_.kept) return std::nullopt;
  auto head = decode_head({reinterpret_cast<const char*>(range_.bytes.data()), kStoreFileBytes}, path_);
  if (!head) return forward(head);
  return std::optional(std::move(*head));
}

// Other stores have left their bytes on the device. So that a segment without a header has lost it, as in a file, each
// one has a header that says free before the range is kept.
void StoreRange::free_what_was_never_used(const StoreHead& head) {
  for (auto rest = segments(); rest.size() >= head.segment_bytes; rest = rest.subspan(head.segment_bytes)) {
    const auto lines = rest.first<kFirstRecord>();
    if (newest_header(lines, head.store)) continue;
    std::byte free[kFirstRecord] = {};
    for (int i = 0; i < 2; ++i) set_free(free, head.store);
    device_.persist().write(lines.data(), free, sizeof(free));
  }
}

Status StoreRange::write_head(const StoreHead& head, std::uint64_t epoch, const Ledger& ledger) {
  if (!range_.kept) free_what_was_never_used(head);
  const std::string bytes = encode_head(head, epoch, ledger);
  device_.persist().write(range_.bytes.data(), bytes.data(), bytes.size());
  device_.set_kept(range_);
  range_.kept = true;
  return {};
}

Status StoreRange::write_epoch(std::uint64_t store, std::uint64_t epoch) {
  const EpochLine line = epoch_line(store, epoch);
  for (const std::uint64_t at : {line.at, line.other_at}) {
    device_.persist().write(range_.bytes.data() + at, &line.line, sizeof(line.line));
  }
  return {};
}

Status StoreRange::write_ledger(std::uint64_t store, const Ledger& ledger) {
  const std::string bytes = encode_ledger(store, ledger);
  for (std::size_t copy = 0; copy < 2; ++copy) {
    device_.persist().write(range_.bytes.data() + kLedgerAt + copy * kLedgerBytes, bytes.data(), bytes.size());
  }
  return {};
}

Status StoreRange::keep(bool kept) {
  if (kept == kept_) return {};
  if (auto ok = device_.rename(range_, kept ? name_ : ""); !ok) return ok;
  kept_ = kept;
  return {};
}

Result<StoreHome::Room> StoreRange::room(std::uint64_t segment_bytes) const {
  const std::uint64_t whole = segments().size() / segment_bytes * segment_bytes;
  return Room{whole, whole};
}

Result<std::size_t> StoreRange::read(std::uint64_t at, std::span<std::byte> to) const {
  const auto all = segments();
  const auto there = all.subspan(std::min<std::uint64_t>(at, all.size()));
  const std::size_t bytes = std::min(there.size(), to.size());
  std::memcpy(to.data(), there.data(), bytes);
  return bytes;
}

}  // namespace forebay::segment
