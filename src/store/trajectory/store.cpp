// What a store tells of itself: its identity, its heads and epochs, and whether it is kept.
#include "store/trajectory/store.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <random>

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

}  // namespace

Done Store::open() {
  if (auto ok = check(options_); !ok) return ok;
  kept_ = options_.keep;
  read_only_ = options_.mode == Mode::read_only || options_.mode == Mode::partial;
  tiers_.resize(options_.tiers.size());
  const std::string name = fmt::format("{}-{}", options_.name, options_.rank);
  const auto is_there = [&](const TierOptions& tier) {
    return tier.kind != TierKind::dram && segment::StoreDirectory::exists(tier.path, name);
  };
  const bool on_device = std::any_of(options_.tiers.begin(), options_.tiers.end(),
                                     [](const TierOptions& tier) { return segment::is_device(tier.path); });
  const bool found = options_.keep && std::any_of(options_.tiers.begin(), options_.tiers.end(), is_there);
  const auto no_store = [&] {
    return fail(FOREBAY_E_NO_SUCH_STORE, "no trajectory {} is kept in {}", name, options_.tiers.front().path);
  };
  const bool must_exist = options_.mode != Mode::any && options_.mode != Mode::create;
  if (must_exist && !found && !on_device) return no_store();
  for (std::uint32_t i = 0; i < tiers(); ++i) {
    if (auto ok = open_tier(i); !ok) return ok;
  }
  decide_checks();
  if (options_.keep) {
    if (auto ok = read_heads(); !ok) return ok;
  }
  if (must_exist && !found_head_) return no_store();
  if (options_.mode == Mode::create && found_head_) {
    return fail(FOREBAY_E_STORE_EXISTS, "a trajectory {} is kept in {} already", name, options_.tiers.front().path);
  }
  return {};
}

Done Store::open_tier(std::uint32_t number) {
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
    tier.home = std::move(range);
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
  tier.home = std::move(directory);
  return {};
}

// Every tier has a head. What is left is offered by those that are there, and the others get one again.
Done Store::read_heads() {
  std::vector<std::optional<segment::DecodedHead>> heads(tiers_.size());
  std::optional<Failure> damage;
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    if (!tiers_[i].home) continue;
    auto head = tiers_[i].home->read_head();
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
    const bool segments = tier.home && tier.home->has_segments();
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

Done Store::take_head(std::uint32_t number, const segment::DecodedHead& found) {
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
    tier.home.reset();
    tier.medium.reset();
    tier.stream.reset();
    return {};
  }
  tier.epoch = found.epoch;
  found_head_->epoch = std::max(found_head_->epoch, found.epoch);
  return {};
}

Done Store::check_head(const segment::StoreHead& head, const std::string& path) {
  const std::uint64_t bytes = head.segment_bytes;
  if (bytes % segment::page_bytes() != 0 || bytes == 0 || bytes > segment::kLargestSegment) {
    return fail(FOREBAY_E_DAMAGED, "the store is damaged: segments of {} bytes in {}", bytes, path);
  }
  const std::uint64_t page = segment::page_bytes();
  if (options_.segment_bytes != 0 && (options_.segment_bytes + page - 1) / page * page != bytes) {
    return fail(FOREBAY_E_INVALID,
                "the store {} has segments of {} bytes, segment-bytes asks for {}; leave the option away", path, bytes,
                options_.segment_bytes);
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

Outcome<Sizes> Store::sizes(std::uint64_t record_bytes) const {
  auto sizes = found_head_ ? sizes_with(options_, found_head_->head.segment_bytes, record_bytes)
                           : sizes_for(options_, record_bytes);
  for (std::size_t i = 0; sizes && i < tiers_.size(); ++i) {
    // A range of a device is as large as it is.
    const auto* const range = dynamic_cast<segment::StoreRange*>(tiers_[i].home.get());
    if (range == nullptr) continue;
    const auto most = static_cast<std::uint32_t>(range->segments().size() / sizes->segment_bytes);
    sizes->limits[i] = std::min(sizes->limits[i], most);
  }
  return sizes;
}

// Whatever a store was begun with: each record tells whether it has a checksum.
void Store::decide_checks() {
  for (Tier& tier : tiers_) {
    // What is no plain memory can damage what it holds.
    const bool plain = tier.medium && (tier.medium->kind() == "dram" || tier.medium->kind() == "tmpfs");
    tier.checks = options_.checksum.value_or(!plain);
    // Pages of a file leave memory, and come back from the disk.
    tier.every_read = compares() && options_.compare_every_read && tier.medium && tier.medium->kind() == "file";
  }
}

void Store::set_durable() {
  durable_ = kept_ && !options_.process_only;
  for (Tier& tier : tiers_) {
    if (tier.medium) tier.medium->set_durable(durable_);
  }
}

void Store::take_over(std::uint64_t segment_bytes) {
  segment_bytes_ = segment_bytes;
  id_ = found_head_->head.store;
  epoch_ = found_head_->epoch;
  fields_ = found_head_->head.fields;
  set_durable();
}

Done Store::begin(const std::vector<segment::FieldEntry>& fields, std::uint64_t segment_bytes) {
  segment_bytes_ = segment_bytes;
  id_ = random_identity();
  fields_ = fields;
  if (kept_) {
    if (auto ok = write_heads(); !ok) return ok;
  }
  set_durable();
  return {};
}

segment::StoreHead Store::head_for(std::uint32_t tier) const {
  segment::StoreHead head;
  head.store = id_;
  head.segment_bytes = segment_bytes_;
  head.rank = static_cast<std::uint32_t>(options_.rank);
  head.ranks = static_cast<std::uint32_t>(options_.ranks);
  head.tier = tier;
  head.tiers = static_cast<std::uint32_t>(tiers_.size());
  head.fields = fields_;
  return head;
}

// The first tier's last, and then the epoch to the others. So one that tells an epoch is of a store that was begun: if
// the first tier's is gone, it was lost.
Done Store::write_heads() {
  for (std::size_t i = tiers_.size(); i-- > 0;) {
    auto ok = tiers_[i].home->write_head(head_for(static_cast<std::uint32_t>(i)), i == 0 ? epoch_ : 0);
    if (!ok) return pass_on(ok);
  }
  for (std::size_t i = 1; i < tiers_.size(); ++i) {
    if (auto ok = tiers_[i].home->write_epoch(id_, epoch_); !ok) return pass_on(ok);
  }
  return {};
}

// After losses, and after a process that died between the tiers.
Done Store::mend_heads() {
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) {
    const Tier& tier = tiers_[i];
    if (tier.epoch == epoch_) continue;
    const auto ok = tier.epoch ? tier.home->write_epoch(id_, epoch_) : tier.home->write_head(head_for(i), epoch_);
    if (!ok) return pass_on(ok);
  }
  return {};
}

// The highest epoch counts for all: once the first tier tells it, this is done, and whoever opens the store tells it to
// those that did not take it.
Done Store::rewind() {
  for (std::size_t i = 0; kept_ && i < tiers_.size(); ++i) {
    auto ok = tiers_[i].home->write_epoch(id_, epoch_ + 1);
    if (!ok && i == 0) return pass_on(ok);
  }
  ++epoch_;
  return {};
}

Done Store::keep(bool kept) {
  if (kept && std::any_of(tiers_.begin(), tiers_.end(), [](const Tier& tier) { return !tier.home; })) {
    return fail(FOREBAY_E_INVALID,
                "memory of the process cannot be kept; use a pool on tmpfs such as /dev/shm instead of dram");
  }
  for (Tier& tier : tiers_) {
    if (auto ok = tier.home->keep(kept); !ok) return pass_on(ok);
  }
  kept_ = kept;
  set_durable();
  return {};
}

const char* Store::kind(std::uint32_t number) const {
  const Tier& tier = tiers_[number];
  if (tier.medium) return tier.medium->kind().data();
  return tier.options->kind == TierKind::shared ? "shared" : "file";
}

}  // namespace forebay::trajectory
