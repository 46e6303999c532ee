// The part of Tiers that begins a store, finds one that was kept, and lets one be kept.
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
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

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

Outcome<std::unique_ptr<Tiers>> Tiers::open(const Options& options) {
  if (auto ok = check(options); !ok) return pass_on(ok);
  std::unique_ptr<Tiers> tiers(new Tiers(options));
  tiers->kept_ = options.keep;
  tiers->read_only_ = options.mode == Mode::read_only || options.mode == Mode::partial;
  tiers->tiers_.resize(options.tiers.size());
  tiers->log_.begin(options.tiers.size());
  const std::string name = fmt::format("{}-{}", options.name, options.rank);
  const auto is_there = [&](const TierOptions& tier) {
    return tier.kind != TierKind::dram && segment::StoreDirectory::exists(tier.path, name);
  };
  const bool on_device = std::any_of(options.tiers.begin(), options.tiers.end(),
                                     [](const TierOptions& tier) { return segment::is_device(tier.path); });
  const bool found = options.keep && std::any_of(options.tiers.begin(), options.tiers.end(), is_there);
  const auto no_store = [&] {
    return fail(FOREBAY_E_NO_SUCH_STORE, "no trajectory {} is kept in {}", name, options.tiers.front().path);
  };
  const bool must_exist = options.mode != Mode::any && options.mode != Mode::create;
  if (must_exist && !found && !on_device) return no_store();
  for (std::size_t i = 0; i < options.tiers.size(); ++i) {
    if (auto ok = tiers->open_tier(i); !ok) return pass_on(ok);
  }
  if (options.keep) {
    if (auto ok = tiers->read_heads(); !ok) return pass_on(ok);
  }
  if (must_exist && !tiers->found_head_) return no_store();
  if (options.mode == Mode::create && tiers->found_head_) {
    return fail(FOREBAY_E_STORE_EXISTS, "a trajectory {} is kept in {} already", name, options.tiers.front().path);
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
    if (read_only_) return fail(FOREBAY_E_INVALID, "{} is a device: it cannot be opened to be read only", tier.path());
    auto device = segment::Device::open(tier.options->path);
    if (!device) return pass_on(device);
    auto opened = segment::StoreRange::open(std::move(*device), name, options_.keep, tier.options->budget);
    if (!opened) return pass_on(opened);
    auto range = std::make_unique<segment::StoreRange>(std::move(*opened));
    tier.medium = segment::memory_of_range(*range);
    tier.directory = std::move(range);
    return {};
  }
  using How = segment::StoreDirectory::How;
  const How how = read_only_ ? How::read_only : options_.keep ? How::named : How::unnamed;
  auto opened = segment::StoreDirectory::open(tier.options->path, name, how);
  if (!opened && read_only_ && opened.error().errno_value == ENOENT) return {};  // what is left is read
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

// Every tier has a head. What is left is offered by those that are there, and the others get one again.
Done Tiers::read_heads() {
  std::vector<std::optional<segment::DecodedHead>> heads(tiers_.size());
  std::optional<Failure> damage;
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    if (!tiers_[i].directory) continue;
    auto head = tiers_[i].directory->read_head();
    if (head) {
      heads[i] = std::move(*head);
      continue;
    }
    const Failure failure = failure_of(head.error());
    if (failure.status != FOREBAY_E_DAMAGED) return tl::unexpected(failure);
    if (!damage) damage = failure;
    remark(failure.text);
  }
  // Where no head tells of an epoch, a process died before all of them were there: nothing was stored.
  const bool begun = std::any_of(heads.begin(), heads.end(), [](const auto& head) { return head && head->epoch > 0; });
  if (!begun && damage) return tl::unexpected(*damage);
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) {
    if (!begun || !heads[i]) continue;
    if (auto ok = take_head(i, *heads[i]); !ok) return ok;
  }
  for (const Tier& tier : tiers_) {
    if (tier.epoch) continue;
    const bool segments = tier.directory && tier.directory->has_segments();
    if (begun) {
      remark(fmt::format("{}: {}", tier.path(),
                         segments ? "the head of this tier was lost, and taken from another one"
                                  : "nothing is left on this tier; the steps that it held are lost"));
    } else if (segments) {
      return fail(
          FOREBAY_E_DAMAGED,
          "the store is damaged: {} has states, but its head (the file \"store\") is gone; restore it from a copy, "
          "or remove the directory",
          tier.path());
    }
  }
  return {};
}

Done Tiers::take_head(std::uint32_t number, const segment::DecodedHead& found) {
  Tier& tier = tiers_[number];
  if (!found_head_) {
    if (auto ok = check_head(found.head, tier.path()); !ok) return ok;
    found_head_ = found;
  } else if (found.head.store != found_head_->head.store || found.head.tier != number) {
    if (options_.mode != Mode::partial) {
      return fail(FOREBAY_E_DAMAGED,
                  "the parts of the store do not fit: {} does not belong to what lies in {}; open it partially to "
                  "read what does, or move that away",
                  tier.path(), tiers_.front().path());
    }
    remark(fmt::format("{}: this belongs to another store", tier.path()));
    tier.directory.reset();
    tier.medium.reset();
    tier.stream.reset();
    return {};
  }
  tier.checks = found.head.payload_checks != 0;
  tier.epoch = found.epoch;
  found_head_->epoch = std::max(found_head_->epoch, found.epoch);
  return {};
}

Done Tiers::check_head(const segment::StoreHead& head, const std::string& path) {
  const std::uint64_t bytes = head.segment_bytes;
  if (bytes % segment::page_bytes() != 0 || bytes == 0 || bytes > segment::kLargestSegment) {
    return fail(FOREBAY_E_DAMAGED, "the store is damaged: segments of {} bytes in {}", bytes, path);
  }
  if (head.tiers != tiers_.size() && options_.mode != Mode::partial) {
    return fail(FOREBAY_E_INVALID, "the store {} was kept with {} tiers and is opened with {}", path, head.tiers,
                tiers_.size());
  }
  if (head.ranks != static_cast<std::uint32_t>(options_.ranks)) {
    return fail(FOREBAY_E_INVALID, "the store {} was kept by a run of {} ranks and is opened by one of {}", path,
                head.ranks, options_.ranks);
  }
  return {};
}

Done Tiers::take_sizes(const Outcome<Sizes>& sizes) {
  if (!sizes) return pass_on(sizes);
  segment_bytes_ = sizes->segment_bytes;
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) {
    log_.tier(i).limit = sizes->limits[i];
    // A range of a device is as large as it is.
    const auto* const range = dynamic_cast<segment::StoreRange*>(tiers_[i].directory.get());
    if (range == nullptr) continue;
    const auto most = static_cast<std::uint32_t>(range->segments().size() / segment_bytes_);
    log_.tier(i).limit = std::min(log_.tier(i).limit, most);
  }
  return {};
}

Outcome<Sizes> Tiers::sizes_of(std::uint64_t record_bytes) const {
  if (found_head_) return sizes_with(options_, found_head_->head.segment_bytes, record_bytes);
  return sizes_for(options_, record_bytes);
}

Outcome<Tiers::Capacity> Tiers::capacity(std::uint64_t record_bytes) {
  const Lock lock(mutex_);
  if (!started_) {
    if (auto ok = take_sizes(sizes_of(record_bytes)); !ok) return pass_on(ok);
  }
  Capacity all{segment_bytes_, 0};
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) all.segments += log_.tier(i).limit;
  return all;
}

void Tiers::set_durable() {
  durable_ = kept_ && !options_.process_only;
  for (Tier& tier : tiers_) {
    if (tier.medium) tier.medium->set_durable(durable_);
  }
}

Done Tiers::begin_store(const std::vector<segment::FieldEntry>& fields, std::uint64_t record_bytes) {
  if (auto ok = take_sizes(sizes_of(record_bytes)); !ok) return ok;
  fields_ = fields;
  store_ = random_identity();
  for (Tier& tier : tiers_) {
    // What is no plain memory can damage what it holds.
    const bool plain = tier.medium && (tier.medium->kind() == "dram" || tier.medium->kind() == "tmpfs");
    tier.checks = options_.checksum == 1 || (options_.checksum == -1 && !plain);
  }
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
  head.payload_checks = tiers_[tier].checks ? 1 : 0;
  head.fields = fields_;
  return head;
}

// The first tier's last, and then the epoch to the others. So one that tells an epoch is of a store that was begun: if
// the first tier's is gone, it was lost.
Done Tiers::write_heads() {
  for (std::size_t i = tiers_.size(); i-- > 0;) {
    auto ok = tiers_[i].directory->write_head(head_for(static_cast<std::uint32_t>(i)), i == 0 ? epoch_ : 0);
    if (!ok) return pass_on(ok);
  }
  for (std::size_t i = 1; i < tiers_.size(); ++i) {
    if (auto ok = tiers_[i].directory->write_epoch(store_, epoch_); !ok) return pass_on(ok);
  }
  return {};
}

// After losses, and after a process that died between the tiers.
Done Tiers::mend_heads() {
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) {
    const Tier& tier = tiers_[i];
    if (tier.epoch == epoch_) continue;
    const auto ok =
        tier.epoch ? tier.directory->write_epoch(store_, epoch_) : tier.directory->write_head(head_for(i), epoch_);
    if (!ok) return pass_on(ok);
  }
  return {};
}

// --- a store that was kept
// -----------------------------------------------------------------------------------------------

Done Tiers::load(const Visit& visit, std::uint64_t record_bytes) {
  const segment::StoreHead& head = found_head_->head;
  if (auto ok = take_sizes(sizes_with(options_, head.segment_bytes, record_bytes)); !ok) return ok;
  store_ = head.store;
  epoch_ = found_head_->epoch;
  fields_ = head.fields;
  set_durable();
  // Headers that were found do not tell all numbers that were used: a segment that was given up has lost its header,
  // but its records may stand somewhere yet. No store uses up numbers faster than nanoseconds pass.
  next_generation_ = nanoseconds_since_1970();
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) {
    if (!tiers_[i].directory) continue;
    if (auto ok = find_segments(i); !ok) return ok;
  }
  std::map<std::uint64_t, std::uint32_t> in_order;
  for (std::uint32_t i = 0; i < log_.size(); ++i) {
    if (log_[i].used()) in_order.emplace(log_[i].generation, i);
  }
  for (const auto& [generation, number] : in_order) {
    if (auto ok = walk_segment(number, visit); !ok) return ok;
  }
  return {};
}

Done Tiers::go_on(const std::vector<std::uint32_t>& live) {
  if (!read_only_) {
    if (auto ok = mend_heads(); !ok) return ok;
  }
  for (std::uint32_t i = 0; i < log_.size(); ++i) {
    if (!log_[i].used()) continue;
    log_[i].live = i < live.size() ? live[i] : 0;
    settle(i);
  }
  start_threads();
  return {};
}

Done Tiers::find_segments(std::uint32_t number) {
  Tier& tier = tiers_[number];
  Slots& slots = log_.tier(number);
  const auto room = tier.directory->room(segment_bytes_);
  if (!room) return pass_on(room);
  const std::uint64_t size = room->bytes;
  // Every segment has at least its first page.
  const std::uint64_t whole = size / segment_bytes_;
  const std::uint64_t pages = room->allocated / segment::page_bytes();
  if (whole > 1024 + 64 * pages) {
    return fail(FOREBAY_E_DAMAGED, "the store is damaged: {} is {} bytes long and nearly empty",
                tier.directory->path() + "/segments", size);
  }
  if (size % segment_bytes_ != 0 && size > segment::page_bytes()) {
    remark(fmt::format("{}: segment {} is cut off at byte {}; its steps are lost", tier.directory->path(), whole,
                       size % segment_bytes_));
  }
  for (std::uint32_t slot = 0; slot < whole; ++slot) {
    slots.add();
    slots.free.erase(slots.free.begin());
    if (!streamed(number)) {
      auto mapping = tier.medium->map(slot, segment_bytes_);
      if (!mapping) return pass_on(mapping);
      tier.mappings.push_back(std::move(*mapping));
    }
    std::byte lines[segment::kFirstRecord] = {};
    if (auto got = tier.directory->read(slot * segment_bytes_, lines); !got) return pass_on(got);
    const auto header = segment::newest_header(lines, store_);
    if (!header) remark_lost_header(number, slot);
    if (header) next_generation_ = std::max(next_generation_, header->header.generation + 1);
    if (!header || header->header.epoch != epoch_) {
      slots.free.push_back(slot);
      continue;
    }
    const std::uint64_t generation = header->header.generation;
    // A crash came between a segment's arrival here and its removal above. Here it is whole: its header came last.
    for (std::uint32_t above = 0; above < number; ++above) {
      const auto& resident = log_.tier(above).resident;
      if (const auto twice = resident.find(generation); twice != resident.end()) forget(twice->second);
    }
    if (slots.resident.contains(generation)) {
      remark(fmt::format("{}: segment {} is there twice", tier.directory->path(), slot));
      slots.free.push_back(slot);
      continue;
    }
    Segment& found = log_[log_.add(generation, {number, slot})];
    found.sealed = true;
    found.arrivals = tier.checks ? 1 : 0;
  }
  slots.limit = std::max(slots.limit, slots.used());
  return {};
}

// A segment has a header from its first use on, also where it is free. Behind one that was never used all is zero: its
// first header may be torn.
void Tiers::remark_lost_header(std::uint32_t number, std::uint32_t slot) {
  const segment::StoreHome& home = *tiers_[number].directory;
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  std::vector<std::byte> piece(std::min(kPiece, segment_bytes_));
  bool empty = true;
  for (std::uint64_t at = segment::kFirstRecord; empty && at < segment_bytes_; at += piece.size()) {
    const std::span part(piece.data(), std::min<std::uint64_t>(piece.size(), segment_bytes_ - at));
    const auto got = home.read(slot * segment_bytes_ + at, part);
    empty = got && is_zero(part.first(*got));
  }
  if (empty) return;
  remark(fmt::format("{}: the header of segment {} is damaged (byte {} of the file); the steps that it held are lost",
                     home.path(), slot, slot * segment_bytes_));
}

Done Tiers::walk_segment(std::uint32_t number, const Visit& visit) {
  Segment& loaded = log_[number];
  const Place place = loaded.place;
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
    memory = memory_at(place);
  }
  const auto header = segment::newest_header(memory.first<segment::kFirstRecord>(), store_);
  if (!header || header->header.generation != loaded.generation) return {};
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
    bool making = false;
    for (std::uint32_t i = 0; i < tiers_.size(); ++i) making = making || log_.tier(i).making;
    return !mover_busy_ && !making;
  });
  for (Tier& tier : tiers_) {
    if (auto ok = tier.directory->keep(kept); !ok) return pass_on(ok);
  }
  kept_ = kept;
  set_durable();
  if (!kept || !started_) return {};
  for (std::uint32_t i = 0; i < log_.size(); ++i) {
    if (!log_[i].used()) continue;
    const Place place = log_[i].place;
    std::vector<std::uint32_t> gone;
    const auto look = [&](std::uint32_t number, const segment::RecordHeader& record) {
      if (!lives(number, record)) gone.push_back(record.record);
    };
    if (streamed(place.tier)) {
      if (auto ok = walk_segment(i, look); !ok) return ok;
      for (const std::uint32_t record : gone) {
        if (auto ok = mark_dropped(i, record); !ok) return ok;
      }
      continue;
    }
    const std::span<std::byte> memory = memory_at(place);
    segment::Medium& medium = *tiers_[place.tier].medium;
    const auto header = segment::newest_header(memory.first<segment::kFirstRecord>(), store_);
    if (!header) continue;
    segment::walk(memory, store_, header->header, [&](const segment::RecordHeader& record) { look(i, record); });
    for (const std::uint32_t record : gone) (void)segment::mark_dropped(medium, memory, record);
    if (const int failed = medium.flush(memory.data(), memory.size()); failed != 0) {
      errno = failed;
      return pass_on(Status(errno_error("cannot sync", tiers_[place.tier].directory->path())));
    }
    medium.fence();
  }
  return write_heads();
}

// Where its segment lies, and in the copy in the cache: a move takes that.
Done Tiers::mark_dropped(std::uint32_t number, std::uint32_t record) {
  const Place place = log_[number].place;
  Tier& tier = tiers_[place.tier];
  const std::span<std::byte> memory = memory_of(number);
  if (!streamed(place.tier)) {
    if (const int failed = segment::mark_dropped(*tier.medium, memory, record); failed != 0) {
      errno = failed;
      return pass_on(Status(errno_error("cannot write to the store", tier.path())));
    }
    return {};
  }
  const std::uint64_t at = segment::header_place(record);
  segment::RecordHeader header;
  auto got = tier.directory->read(place.slot * segment_bytes_ + at, std::as_writable_bytes(std::span(&header, 1)));
  if (!got) return pass_on(got);
  if (*got != sizeof(header)) return pass_on(Status(error(Code::lost, "a segment is cut off in", tier.path())));
  const std::uint64_t state_at = at + offsetof(segment::RecordHeader, state);
  header.state = segment::dropped_state(header);
  const auto state = std::as_bytes(std::span(&header.state, 1));
  if (auto ok = tier.stream->patch(place.slot * segment_bytes_ + state_at, state); !ok) return pass_on(ok);
  if (!memory.empty()) std::memcpy(memory.data() + state_at, state.data(), state.size());
  return {};
}

}  // namespace forebay::trajectory
