// Operations on a whole store: it is found or begun, rewound, and kept or not.
#include "store/trajectory/store.h"

#include <algorithm>
#include <cerrno>

namespace forebay::trajectory {

Done Store::open() {
  auto opened = open_all();
  if (!opened) take_back();
  return opened;
}

void Store::take_back() {
  for (const Tier& tier : tiers_) {
    if (tier.home) tier.home->take_back();
  }
}

Done Store::open_all() {
  if (auto ok = check(options_); !ok) return ok;
  kept_ = options_.keep;
  read_only_ = options_.mode == Mode::read_only || options_.mode == Mode::partial;
  tiers_.resize(options_.tiers.size());
  const std::string name = fmt::format("{}-{}", options_.name, options_.rank);
  bool on_device = false, found = false;
  for (const TierOptions& tier : options_.tiers) {
    on_device = on_device || segment::is_device(tier.path);
    if (!options_.keep || tier.kind == TierKind::dram) continue;
    const auto is_there = segment::StoreDirectory::exists(tier.path, name);
    if (!is_there) return pass_on(is_there);
    found = found || *is_there;
  }
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
    auto opened = segment::open_device_tier(tier.options->path, name, options_.keep, tier.options->budget);
    if (!opened) return pass_on(opened);
    tier.medium = std::move(opened->medium);
    tier.home = std::move(opened->home);
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

Outcome<Sizes> Store::sizes(std::uint64_t record_bytes) const {
  auto sizes = found_head_ ? sizes_with(options_, found_head_->head.segment_bytes, record_bytes)
                           : sizes_for(options_, record_bytes);
  for (std::size_t i = 0; sizes && i < tiers_.size(); ++i) {
    if (!tiers_[i].home) continue;
    // A range of a device is as large as it is.
    const std::uint64_t most = tiers_[i].home->most_bytes() / sizes->segment_bytes;
    sizes->limits[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(sizes->limits[i], most));
  }
  return sizes;
}

// This may differ from what a store was begun with: each record tells whether it has a checksum.
void Store::decide_checks() {
  for (Tier& tier : tiers_) {
    // A medium that is no plain memory can damage what it holds.
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
  id_ = new_identity();
  fields_ = fields;
  ledger_ = {.serial = 0, .epoch = epoch_, .tiers = std::vector<segment::TierEntry>(tiers_.size())};
  for (segment::TierEntry& tier : ledger_.tiers) tier.life = new_identity();
  for (const Tier& tier : tiers_) {
    if (!tier.unfinished) continue;
    if (auto ok = tier.home->discard(); !ok) return pass_on(ok);
  }
  if (kept_) {
    if (auto ok = write_heads({}); !ok) return ok;
  }
  set_durable();
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
  ledger_.epoch = epoch_;
  forget_steps(ledger_);
  return {};
}

Done Store::keep(bool kept) {
  if (kept && std::any_of(tiers_.begin(), tiers_.end(), [](const Tier& tier) { return !tier.home; })) {
    return fail(FOREBAY_E_INVALID,
                "memory of the process cannot be kept; use a pool on tmpfs such as /dev/shm instead of dram");
  }
  if (const Status named = name_tiers(kept); !named) {
    for (const Tier& tier : tiers_) {
      if (kept) tier.home->kept() ? (void)tier.home->keep(false) : tier.home->take_back();
    }
    return pass_on(named);
  }
  kept_ = kept;
  set_durable();
  return {};
}

Status Store::name_tiers(bool kept) {
  for (std::uint32_t i = 0; kept && id_ != 0 && i < tiers(); ++i) {
    if (auto ok = tiers_[i].home->prepare_to_keep(head_for(i)); !ok) return ok;
  }
  for (const Tier& tier : tiers_) {
    if (auto ok = tier.home->keep(kept); !ok) return ok;
  }
  return {};
}

bool Store::may_have_room(std::uint32_t number) const {
  const Tier& tier = tiers_[number];
  return !tier.home || tier.home->available() >= segment_bytes_;
}

Done Store::look_at_files() const {
  if (!kept_) return {};
  for (const Tier& tier : tiers_) {
    if (!tier.medium) continue;
    if (auto ok = tier.medium->look_at_length(); !ok) return pass_on(ok);
  }
  return {};
}

const char* Store::kind(std::uint32_t number) const {
  const Tier& tier = tiers_[number];
  if (tier.medium) return tier.medium->kind().data();
  return tier.options->kind == TierKind::shared ? "shared" : "file";
}

}  // namespace forebay::trajectory
