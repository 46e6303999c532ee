// The part of Tiers that begins a store, finds one that was kept, and lets one be kept.
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "trajectory/tiers.h"

namespace forebay::trajectory {
namespace {

std::uint64_t random_identity() {
  std::uint64_t id = 0;
  if (::getrandom(&id, sizeof(id), 0) != sizeof(id)) {
    std::random_device device;
    id = (std::uint64_t{device()} << 32) | device();
  }
  return id;
}

std::uint64_t nanoseconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Segments that the first tier must have room for: one to write and, where states come back from below, one for them.
std::uint32_t first_needs(bool has_streamed) {
  return has_streamed ? 2 : 1;
}

// A segment that is not in use has no header: none of its two lines has a check.
bool lost_its_header(std::span<const std::byte, segment::kFirstRecord + segment::kLine> lines, std::uint64_t store) {
  std::uint64_t checks[2];
  for (std::size_t i = 0; i < 2; ++i) std::memcpy(&checks[i], lines.data() + i * segment::kLine, sizeof(checks[i]));
  if (checks[0] == 0 && checks[1] == 0) return false;
  segment::RecordHeader first;
  std::memcpy(&first, lines.data() + segment::kFirstRecord, sizeof(first));
  return segment::state_of(first, store) != segment::RecordState::none;
}

}  // namespace

Outcome<std::unique_ptr<Tiers>> Tiers::open(const Options& options) {
  if (auto ok = check(options); !ok) return pass_on(ok);
  std::unique_ptr<Tiers> tiers(new Tiers(options));
  tiers->kept_ = options.keep;
  tiers->tiers_.resize(options.tiers.size());
  for (std::size_t i = 0; i < options.tiers.size(); ++i) {
    if (auto ok = tiers->open_tier(i); !ok) return pass_on(ok);
  }
  if (options.keep) {
    if (auto ok = tiers->read_heads(); !ok) return pass_on(ok);
  }
  return tiers;
}

Done Tiers::open_tier(std::size_t number) {
  Tier& tier = tiers_[number];
  tier.options = &options_.tiers[number];
  if (tier.options->kind == TierKind::dram) {
    tier.medium = segment::memory_of_process();
    return {};
  }
  const std::string name = fmt::format("{}-{}", options_.name, options_.rank);
  if (tier.options->kind == TierKind::pool && segment::is_device(tier.options->path)) {
    auto device = segment::Device::open(tier.options->path);
    if (!device) return pass_on(device);
    auto opened = segment::StoreRange::open(std::move(*device), name, options_.keep, tier.options->budget);
    if (!opened) return pass_on(opened);
    auto range = std::make_unique<segment::StoreRange>(std::move(*opened));
    tier.medium = segment::memory_of_range(*range);
    tier.directory = std::move(range);
    return {};
  }
  auto opened = segment::StoreDirectory::open(tier.options->path, name, options_.keep);
  if (!opened) return pass_on(opened);
  auto directory = std::make_unique<segment::StoreDirectory>(std::move(*opened));
  if (tier.options->kind == TierKind::pool) {
    auto medium = segment::memory_of_directory(*directory);
    if (!medium) return pass_on(medium);
    // Below the first tier, a file system on a disk is better served by large reads and writes than by mappings.
    if (number == 0 || (*medium)->kind() != "file") tier.medium = std::move(*medium);
  }
  if (!tier.medium) tier.stream = std::make_unique<segment::StreamFile>(*directory);
  tier.directory = std::move(directory);
  return {};
}

// The head of the first tier says whether there is a store; the others must fit to it.
Done Tiers::read_heads() {
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) {
    auto head = tiers_[i].directory->read_head();
    if (!head) return pass_on(head);
    const std::string& path = tiers_[i].directory->path();
    if (i == 0) {
      found_head_ = *head;
      if (!found_head_) continue;
      const segment::StoreHead& first = found_head_->head;
      const std::uint64_t bytes = first.segment_bytes;
      if (bytes % segment::page_bytes() != 0 || bytes == 0 || bytes > segment::kLargestSegment) {
        return fail(FOREBAY_E_DAMAGED, "the store is damaged: segments of {} bytes in {}", bytes, path);
      }
      if (first.tiers != tiers_.size()) {
        return fail(FOREBAY_E_INVALID, "the store {} was kept with {} tiers and is opened with {}", path, first.tiers,
                    tiers_.size());
      }
      if (first.ranks != static_cast<std::uint32_t>(options_.ranks)) {
        return fail(FOREBAY_E_INVALID, "the store {} was kept by a run of {} ranks and is opened by one of {}", path,
                    first.ranks, options_.ranks);
      }
      continue;
    }
    if (found_head_ ? !*head || (*head)->head.store != found_head_->head.store || (*head)->head.tier != i
                    : head->has_value() && tiers_[i].directory->has_segments()) {
      return fail(
          FOREBAY_E_DAMAGED,
          "the parts of the store do not fit: {} does not belong to what lies in {}; if a tier was emptied, its "
          "states are lost: remove both",
          path, tiers_[0].directory->path());
    }
  }
  return {};
}

Done Tiers::take_sizes(const Outcome<Sizes>& sizes) {
  if (!sizes) return pass_on(sizes);
  segment_bytes_ = sizes->segment_bytes;
  for (std::size_t i = 0; i < tiers_.size(); ++i) tiers_[i].limit = sizes->limits[i];
  return {};
}

void Tiers::set_durable() {
  durable_ = kept_ && !options_.process_only;
  for (Tier& tier : tiers_) {
    if (tier.medium) tier.medium->set_durable(durable_);
  }
}

Done Tiers::begin_store(const std::vector<segment::FieldEntry>& fields, std::uint64_t record_bytes) {
  if (auto ok = take_sizes(sizes_for(options_, record_bytes, first_needs(has_streamed()))); !ok) return ok;
  fields_ = fields;
  store_ = random_identity();
  payload_checks_ = options_.checksum == 1 ||
                    (options_.checksum == -1 && kept_ && !options_.process_only && first_medium().persistent());
  if (kept_) {
    if (auto ok = write_heads(); !ok) return ok;
  }
  set_durable();
  start_threads();
  return {};
}

segment::StoreHead Tiers::head_for(std::uint32_t tier) const {
  segment::StoreHead head;
  head.store = store_;
  head.segment_bytes = segment_bytes_;
  head.rank = static_cast<std::uint32_t>(options_.rank);
  head.ranks = static_cast<std::uint32_t>(options_.ranks);
  head.tier = tier;
  head.tiers = static_cast<std::uint32_t>(tiers_.size());
  head.payload_checks = payload_checks_ ? 1 : 0;
  head.fields = fields_;
  return head;
}

// The first tier's last: where it stands, all stand.
Done Tiers::write_heads() {
  for (std::size_t i = tiers_.size(); i-- > 0;) {
    auto ok = tiers_[i].directory->write_head(head_for(static_cast<std::uint32_t>(i)), epoch_);
    if (!ok) return pass_on(ok);
  }
  return {};
}

// --- a store that was kept
// -----------------------------------------------------------------------------------------------

Done Tiers::load(const Visit& visit) {
  const segment::StoreHead& head = found_head_->head;
  if (auto ok = take_sizes(sizes_with(options_, head.segment_bytes, first_needs(has_streamed()))); !ok) return ok;
  store_ = head.store;
  epoch_ = found_head_->epoch;
  fields_ = head.fields;
  payload_checks_ = head.payload_checks != 0;
  set_durable();
  // Headers that were found do not tell all numbers that were used: a segment that was given up has lost its header,
  // but its records may stand somewhere yet. No store uses up numbers faster than nanoseconds pass.
  next_generation_ = nanoseconds_since_1970();
  std::map<std::uint64_t, std::uint32_t> found;
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) {
    if (auto ok = find_segments(i, found); !ok) return ok;
  }
  for (const auto& [generation, number] : found) {
    if (auto ok = walk_segment(number, visit); !ok) return ok;
  }
  return {};
}

void Tiers::go_on(const std::vector<std::uint32_t>& live) {
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    segments_[i].live = i < live.size() ? live[i] : 0;
    if (segments_[i].live == 0) forget(i);
  }
  start_threads();
}

Done Tiers::find_segments(std::uint32_t number, std::map<std::uint64_t, std::uint32_t>& found) {
  Tier& tier = tiers_[number];
  const auto room = tier.directory->room(segment_bytes_);
  if (!room) return pass_on(room);
  const std::uint64_t size = room->bytes;
  // Every segment has at least its first page.
  const std::uint64_t slots = size / segment_bytes_;
  const std::uint64_t pages = room->allocated / segment::page_bytes();
  if (slots > 1024 + 64 * pages) {
    return fail(FOREBAY_E_DAMAGED, "the store is damaged: {} is {} bytes long and nearly empty",
                tier.directory->path() + "/segments", size);
  }
  if (size % segment_bytes_ != 0 && size > segment::page_bytes()) {
    remark(fmt::format("{}: segment {} is cut off at byte {}; its steps are lost", tier.directory->path(), slots,
                       size % segment_bytes_));
  }
  tier.made = static_cast<std::uint32_t>(slots);
  tier.limit = std::max(tier.limit, tier.made);
  for (std::uint32_t slot = 0; slot < tier.made; ++slot) {
    if (!streamed(number)) {
      auto mapping = tier.medium->map(slot, segment_bytes_);
      if (!mapping) return pass_on(mapping);
      tier.mappings.push_back(std::move(*mapping));
    }
    // The two header lines, and where the first record's header stands.
    std::byte lines[segment::kFirstRecord + segment::kLine] = {};
    if (auto got = tier.directory->read(slot * segment_bytes_, lines); !got) return pass_on(got);
    const auto header = segment::newest_header(std::span(lines).first<segment::kFirstRecord>(), store_);
    if (!header && lost_its_header(lines, store_)) {
      remark(fmt::format("{}: the header of segment {} is damaged (byte {} of the file); its steps are lost",
                         tier.directory->path(), slot, slot * segment_bytes_));
    }
    if (header) next_generation_ = std::max(next_generation_, header->header.generation + 1);
    if (!header || header->header.epoch != epoch_) {
      tier.free.push_back(slot);
      continue;
    }
    const std::uint64_t generation = header->header.generation;
    const Place place{number, slot};
    if (const auto twice = found.find(generation); twice != found.end()) {
      // A crash came between a segment's arrival here and its removal above. Here it is whole: its header came last.
      Segment& known = segments_[twice->second];
      const Place before = known.copy ? known.copy : known.home;
      tiers_[before.tier].resident.erase(generation);
      release_slot(before);
      known.home = known.copy = {};
      (streamed(number) ? known.copy : known.home) = place;
    } else {
      const std::uint32_t made = new_segment(generation);
      segments_[made].sealed = true;
      segments_[made].suspicious = payload_checks_;
      (streamed(number) ? segments_[made].copy : segments_[made].home) = place;
      found.emplace(generation, made);
    }
    tier.resident.emplace(generation, found.at(generation));
  }
  return {};
}

Done Tiers::walk_segment(std::uint32_t number, const Visit& visit) {
  Segment& loaded = segments_[number];
  const Place place = loaded.copy ? loaded.copy : loaded.home;
  Tier& tier = tiers_[place.tier];
  std::span<const std::byte> memory;
  std::shared_ptr<void> owner;
  if (streamed(place.tier)) {
    const std::uint64_t length = segment_bytes_;
    void* address =
        ::mmap(nullptr, length, PROT_READ, MAP_SHARED, tier.stream->file(), static_cast<off_t>(place.slot * length));
    if (address == MAP_FAILED) return pass_on(Status(errno_error("cannot map", tier.directory->path())));
    owner = std::shared_ptr<void>(address, [length](void* at) { ::munmap(at, length); });
    memory = {static_cast<const std::byte*>(address), length};
  } else {
    memory = bytes(place);
  }
  const auto header = segment::newest_header(memory.first<segment::kFirstRecord>(), store_);
  if (!header) return {};
  const segment::Walk walked = segment::walk(memory, store_, header->header,
                                             [&](const segment::RecordHeader& record) { visit(number, record); });
  loaded.extent = walked.extent;
  for (const auto& damage : walked.damages) {
    remark(fmt::format(
        "{}: segment {} is damaged between its bytes {} and {} (byte {} of the file); the steps there are "
        "lost",
        tier.directory->path(), place.slot, damage.from, damage.to, place.slot * segment_bytes_ + damage.from));
  }
  if (walked.damage_count > walked.damages.size()) {
    remark(fmt::format("{}: segment {} is damaged in {} places in all", tier.directory->path(), place.slot,
                       walked.damage_count));
  }
  return {};
}

// --- keeping
// ---------------------------------------------------------------------------------------------------------------

Done Tiers::keep(bool kept, const Lives& lives) {
  Lock lock(mutex_);
  if (kept == kept_) return {};
  if (kept && std::any_of(tiers_.begin(), tiers_.end(), [](const Tier& tier) { return !tier.directory; })) {
    return fail(FOREBAY_E_INVALID,
                "memory of the process cannot be kept; use a pool on tmpfs such as /dev/shm instead of dram");
  }
  // Whoever moves or makes a slot uses the directories without the lock.
  done_.wait(lock, [&] {
    return !mover_busy_ &&
           std::none_of(tiers_.begin(), tiers_.end(), [](const Tier& tier) { return tier.making != 0; });
  });
  for (Tier& tier : tiers_) {
    if (auto ok = tier.directory->keep(kept); !ok) return pass_on(ok);
  }
  kept_ = kept;
  set_durable();
  if (!kept || !started_) return {};
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (!segment.used) continue;
    if (segment.copy) {
      std::vector<std::uint32_t> gone;
      if (auto ok = walk_segment(i,
                                 [&](std::uint32_t n, const segment::RecordHeader& record) {
                                   if (!lives(n, record)) gone.push_back(record.record);
                                 });
          !ok) {
        return ok;
      }
      for (const std::uint32_t record : gone) {
        if (auto ok = mark_in_stream(segment.copy, record); !ok) return pass_on(ok);
      }
      continue;
    }
    const std::span<std::byte> memory = bytes(segment.home);
    segment::Medium& medium = *tiers_[segment.home.tier].medium;
    const auto header = segment::newest_header(memory.first<segment::kFirstRecord>(), store_);
    if (!header) continue;
    segment::walk(memory, store_, header->header, [&](const segment::RecordHeader& record) {
      if (!lives(i, record)) (void)segment::mark_dropped(medium, memory, record.record);
    });
    if (const int failed = medium.flush(memory.data(), memory.size()); failed != 0) {
      errno = failed;
      return pass_on(Status(errno_error("cannot sync", tiers_[segment.home.tier].directory->path())));
    }
    medium.fence();
  }
  return write_heads();
}

Status Tiers::mark_in_stream(Place copy, std::uint32_t record) {
  Tier& tier = tiers_[copy.tier];
  const std::uint64_t offset = copy.slot * segment_bytes_ + segment::header_place(record);
  segment::RecordHeader header;
  auto got = tier.directory->read(offset, std::as_writable_bytes(std::span(&header, 1)));
  if (!got) return forward(got);
  if (*got != sizeof(header)) return error(Code::lost, "a segment is cut off in", tier.directory->path());
  const std::uint64_t state = segment::dropped_state(header);
  return tier.stream->patch(offset + offsetof(segment::RecordHeader, state), std::as_bytes(std::span(&state, 1)));
}

}  // namespace forebay::trajectory
