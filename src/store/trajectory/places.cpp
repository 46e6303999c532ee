// Operations on one segment of a store where it lies.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "store/trajectory/store.h"

namespace forebay::trajectory {
namespace {

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

Outcome<std::uint32_t> Store::slots_found(std::uint32_t number) {
  Tier& tier = tiers_[number];
  if (!tier.home) return 0;
  const auto room = tier.home->room(segment_bytes_);
  if (!room) return pass_on(room);
  const std::uint64_t size = room->bytes;
  // Every segment has at least its first page.
  const std::uint64_t whole = size / segment_bytes_;
  const std::uint64_t pages = room->allocated / segment::page_bytes();
  if (whole > 1024 + 64 * pages) {
    return fail(FOREBAY_E_DAMAGED, "the store is damaged: {} has {} and is nearly empty", tier.path() + "/segments",
                plural(size, "byte"));
  }
  if (size % segment_bytes_ != 0 && size > segment::page_bytes()) {
    lose(number, fmt::format("{}: segment {} is cut off at byte {}; its steps are lost", tier.path(), whole,
                             size % segment_bytes_));
  }
  tell_a_short_file(number, whole);
  return static_cast<std::uint32_t>(whole);
}

Outcome<std::optional<segment::SegmentHeader>> Store::find(Place place) {
  Tier& tier = tiers_[place.tier];
  if (tier.medium) {
    auto mapping = tier.medium->map(place.slot, segment_bytes_);
    if (!mapping) return pass_on(mapping);
    tier.mappings.push_back(std::move(*mapping));
  }
  std::byte lines[segment::kFirstRecord] = {};
  if (auto got = tier.home->read(offset(place), lines); !got) return pass_on(got);
  const auto header = segment::newest_header(lines, id_);
  if (!header) remark_lost_header(place);
  return header ? std::optional(header->header) : std::nullopt;
}

// A segment has a header from its first use on, also where it is free. Behind one that was never used all is zero: its
// first header may be torn. The ledger tells how many have been used.
void Store::remark_lost_header(Place place) {
  const segment::StoreHome& home = *tiers_[place.tier].home;
  constexpr std::uint64_t kReadAtOnce = std::uint64_t{1} << 20;
  std::vector<std::byte> piece(std::min(kReadAtOnce, segment_bytes_));
  bool empty = true;
  for (std::uint64_t at = segment::kFirstRecord; empty && at < segment_bytes_; at += piece.size()) {
    const std::span part(piece.data(), std::min<std::uint64_t>(piece.size(), segment_bytes_ - at));
    const auto got = home.read(offset(place) + at, part);
    empty = got && is_zero(part.first(*got));
  }
  if (empty && place.slot >= entry(place.tier).slots) return;
  lose(place.tier,
       fmt::format("{}: the header of segment {} is damaged (byte {} of the file); the steps that it held are lost",
                   home.path(), place.slot, offset(place)));
}

Outcome<segment::Mapping> Store::make(std::uint32_t tier, std::uint32_t slot) {
  auto made = tiers_[tier].medium->make(slot, segment_bytes_);
  if (!made) return pass_on(made);
  return std::move(*made);
}

Outcome<segment::Extent> Store::find_records(Place place, std::uint64_t generation,
                                             const std::function<void(const segment::RecordHeader&)>& visit) {
  const Tier& tier = tiers_[place.tier];
  std::span<const std::byte> memory;
  std::shared_ptr<void> owner;
  if (tier.stream) {
    const std::uint64_t length = segment_bytes_;
    void* address =
        ::mmap(nullptr, length, PROT_READ, MAP_SHARED, tier.stream->file(), static_cast<off_t>(offset(place)));
    if (address == MAP_FAILED) return pass_on(Status(errno_error("cannot map", tier.path())));
    owner = std::shared_ptr<void>(address, [length](void* at) { ::munmap(at, length); });
    memory = {static_cast<const std::byte*>(address), length};
  } else {
    memory = bytes(place);
  }
  const auto header = segment::newest_header(memory.first<segment::kFirstRecord>(), id_);
  if (!header || header->header.generation != generation) return segment::Extent{};
  const segment::FoundRecords found = segment::find_records(memory, id_, header->header, visit);
  for (const auto& damage : found.damages) {
    remark(fmt::format(
        "{}: segment {} is damaged between its bytes {} and {} (byte {} of the file); the steps there are lost",
        tier.path(), place.slot, damage.from, damage.to, offset(place) + damage.from));
  }
  if (found.damage_count > found.damages.size()) {
    remark(fmt::format("{}: segment {} is damaged in {} in all", tier.path(), place.slot,
                       plural(found.damage_count, "place")));
  }
  return found.extent;
}

void Store::retire(Place place) {
  Tier& tier = tiers_[place.tier];
  if (read_only_) return;
  // A header that cannot be taken away does no harm now; a reopening may find dropped steps again.
  if (tier.stream) {
    (void)tier.stream->retire(offset(place), id_);
  } else if (look_at_files()) {
    (void)segment::retire(*tier.medium, bytes(place), id_);
  }
}

Done Store::mark_dropped(Place place, std::uint32_t record, std::span<std::byte> copy) {
  Tier& tier = tiers_[place.tier];
  if (!tier.stream) {
    if (const int failed = segment::mark_dropped(*tier.medium, bytes(place), record); failed != 0) {
      errno = failed;
      return pass_on(Status(errno_error("cannot write to the store", tier.path())));
    }
    return {};
  }
  const std::uint64_t at = segment::header_place(record);
  segment::RecordHeader header;
  auto got = tier.home->read(offset(place) + at, std::as_writable_bytes(std::span(&header, 1)));
  if (!got) return pass_on(got);
  if (*got != sizeof(header)) return pass_on(Status(error(Code::lost, "a segment is cut off in", tier.path())));
  const std::uint64_t state_at = at + offsetof(segment::RecordHeader, state);
  header.state = segment::dropped_state(header);
  const auto state = std::as_bytes(std::span(&header.state, 1));
  if (auto ok = tier.stream->patch(offset(place) + state_at, state); !ok) return pass_on(ok);
  if (!copy.empty()) std::memcpy(copy.data() + state_at, state.data(), state.size());
  return {};
}

Done Store::sync(Place place) {
  Tier& tier = tiers_[place.tier];
  if (tier.stream) return {};
  if (const int failed = tier.medium->flush(bytes(place).data(), segment_bytes_); failed != 0) {
    errno = failed;
    return pass_on(Status(errno_error("cannot sync", tier.path())));
  }
  tier.medium->fence();
  return {};
}

Status Store::carry(const segment::Extent& used, std::span<const std::byte> from, Place to,
                    std::span<std::byte> memory) {
  Tier& tier = tiers_[to.tier];
  if (tier.stream) return tier.stream->write(offset(to), from, used, {id_, tier.checks, durable_});
  if (const int failed = segment::arrive(*tier.medium, memory, from, used, id_, tier.checks); failed != 0) {
    errno = failed;
    return errno_error("cannot write to", tier.options->path);
  }
  segment::fence_stores();  // the reader is another thread
  return {};
}

Status Store::read(Place place, const segment::Extent& used, std::span<std::byte> to) {
  return tiers_[place.tier].stream->read(offset(place), to, used);
}

}  // namespace forebay::trajectory
