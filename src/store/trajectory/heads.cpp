// The heads of a store's tiers, taken together: which tiers belong to it, and which parts of them were lost.
#include <algorithm>

#include "base/random.h"
#include "store/trajectory/store.h"

namespace forebay::trajectory {
namespace {

const segment::TierEntry* entry_in(const std::optional<segment::DecodedHead>& head, std::uint32_t tier) {
  if (!head || !head->ledger || head->ledger->tiers.size() <= tier) return nullptr;
  return &head->ledger->tiers[tier];
}

std::string what_it_held(const segment::TierEntry& entry) {
  if (entry.steps == 0) return "the steps that it held";
  return fmt::format("the {} that it held, up to step {},", plural(entry.steps, "step"), entry.highest);
}

}  // namespace

std::uint64_t Store::new_identity() {
  return random_number();
}

// Every tier has a head. The tiers that are there offer what is left, and the others get a head again.
Done Store::read_heads() {
  if (auto ok = find_heads(); !ok) return ok;
  for (std::uint32_t i = 0; i < tiers(); ++i) {
    if (!tiers_[i].head) continue;
    if (auto ok = take_head(i); !ok) return ok;
  }
  if (found_head_) {
    if (auto ok = leave_out_older_ones(); !ok) return ok;
    take_ledger();
  }
  if (auto ok = look_at_the_headless(); !ok) return ok;
  if (found_head_) tell_what_is_missing();
  return {};
}

Done Store::find_heads() {
  std::optional<Failure> damage;
  bool begun = false;
  for (Tier& tier : tiers_) {
    if (!tier.home) continue;
    auto head = tier.home->read_head();
    if (head) {
      tier.head = std::move(*head);
      begun = begun || (tier.head && tier.head->epoch > 0);
      continue;
    }
    const Failure failure = failure_of(head.error());
    if (failure.status != FOREBAY_E_DAMAGED) return tl::unexpected(failure);
    if (!damage) damage = failure;
    tier.head_damaged = true;
    remark(failure.text);
  }
  if (begun) return {};
  if (damage) return tl::unexpected(*damage);
  // Where no head tells of an epoch, a process died before all of them were there: nothing was kept.
  for (Tier& tier : tiers_) {
    tier.unfinished = tier.head.has_value();
    tier.head.reset();
    if (tier.unfinished && tier.home->has_segments()) {
      remark(fmt::format("{}: a process ended before it had kept the states here; none of them counts", tier.path()));
    }
  }
  return {};
}

Done Store::take_head(std::uint32_t position) {
  Tier& tier = tiers_[position];
  const segment::DecodedHead& found = *tier.head;
  if (!found_head_) {
    if (auto ok = check_head(found.head, tier.path()); !ok) return ok;
    found_head_ = found;
    found_head_->epoch = 0;
  }
  // Partially tiers may be left out, so each tells by itself which one it is.
  const bool twice = std::any_of(tiers_.data(), tiers_.data() + position, [&](const Tier& other) {
    return other.head && other.head->head.tier == found.head.tier;
  });
  const bool in_place = options_.mode == Mode::partial ? !twice : found.head.tier == position;
  if (found.head.store != found_head_->head.store || !in_place || found.head.tier >= found_head_->head.tiers) {
    return leave_out(tier, "belongs to another store, or is another tier of it");
  }
  found_head_->epoch = std::max(found_head_->epoch, found.epoch);
  return {};
}

Done Store::check_head(const segment::StoreHead& head, const std::string& path) {
  const std::uint64_t bytes = head.segment_bytes;
  if (bytes % segment::page_bytes() != 0 || bytes == 0 || bytes > segment::kLargestSegment) {
    return fail(FOREBAY_E_DAMAGED, "the store is damaged: segments of {} in {}", plural(bytes, "byte"), path);
  }
  const std::uint64_t page = segment::page_bytes();
  if (options_.segment_bytes != 0 && (options_.segment_bytes + page - 1) / page * page != bytes) {
    return fail(FOREBAY_E_INVALID, "the store {} has segments of {}, segment-bytes asks for {}; leave the option away",
                path, plural(bytes, "byte"), options_.segment_bytes);
  }
  if (head.tiers != tiers_.size() && options_.mode != Mode::partial) {
    return fail(FOREBAY_E_INVALID, "the store {} was kept with {} and is opened with {}", path,
                plural(head.tiers, "tier"), tiers_.size());
  }
  if (head.ranks != static_cast<std::uint32_t>(options_.ranks)) {
    return fail(FOREBAY_E_INVALID, "the store {} was kept by a run of {} and is opened by one of {}", path,
                plural(head.ranks, "rank"), options_.ranks);
  }
  return {};
}

Done Store::leave_out(Tier& tier, const char* why) {
  if (options_.mode != Mode::partial) {
    return fail(FOREBAY_E_DAMAGED,
                "the parts of the store do not fit: {} {}; open it by the mode \"partial\" to read what does, or move "
                "that away",
                tier.path(), why);
  }
  remark(fmt::format("{}: this {}; it is left out", tier.path(), why));
  tier.head.reset();
  tier.home.reset();
  tier.medium.reset();
  tier.stream.reset();
  tier.left_out = true;
  return {};
}

// A tier was lost, the store went on with a new one in its place, and now the old one is back. It may hold states that
// were put again meanwhile, into the new one.
Done Store::leave_out_older_ones() {
  for (Tier& tier : tiers_) {
    if (!tier.head) continue;
    const std::uint32_t number = tier.head->head.tier;
    const segment::TierEntry* const own = entry_in(tier.head, number);
    const bool older = own != nullptr && std::any_of(tiers_.begin(), tiers_.end(), [&](const Tier& other) {
                         const segment::TierEntry* const known =
                             &other == &tier ? nullptr : entry_in(other.head, number);
                         return known != nullptr && known->life != own->life;
                       });
    if (!older) continue;
    auto left_out = leave_out(tier, "was away while the store went on without it, and may hold older states");
    if (!left_out) return left_out;
  }
  return {};
}

void Store::take_ledger() {
  ledger_ = {};
  for (const Tier& tier : tiers_) {
    if (!tier.head) continue;
    if (!tier.head->ledger) {
      remark(fmt::format("{}: what its head tells of the other tiers is damaged", tier.path()));
    } else if (tier.head->ledger->serial >= ledger_.serial) {
      ledger_ = *tier.head->ledger;
    }
  }
  ledger_.tiers.resize(std::min<std::size_t>(found_head_->head.tiers, segment::kMostTiers));
  if (ledger_.epoch == found_head_->epoch) return;
  ledger_.epoch = found_head_->epoch;
  forget_steps(ledger_);
}

void Store::forget_steps(segment::Ledger& ledger) {
  for (segment::TierEntry& tier : ledger.tiers) tier = {.life = tier.life, .slots = tier.slots};
}

Done Store::look_at_the_headless() {
  for (Tier& tier : tiers_) {
    if (tier.head || tier.left_out) continue;
    const bool segments = tier.home && !tier.unfinished && tier.home->has_segments();
    if (!found_head_ && segments) {
      return fail(
          FOREBAY_E_DAMAGED,
          "the store is damaged: {} has states, but its head (the file \"store\") is gone; restore it from a copy, "
          "or remove the directory",
          tier.path());
    }
    if (!found_head_) continue;
    if (options_.mode == Mode::must_exist && !tier.head_damaged) {
      return fail(FOREBAY_E_NO_SUCH_STORE,
                  "{} has no part of the trajectory {}-{}, of which others were found; give the directory where that "
                  "tier was kept, or open it by the mode \"partial\" to read what is left",
                  tier.options->path, options_.name, options_.rank);
    }
    tier.gone = !segments;
    if (segments) remark(fmt::format("{}: the head of this tier was lost, and taken from another one", tier.path()));
  }
  return {};
}

void Store::tell_what_is_missing() {
  const std::uint32_t all = found_head_->head.tiers;
  for (std::uint32_t number = 0; number < ledger_.tiers.size(); ++number) {
    const segment::TierEntry& entry = ledger_.tiers[number];
    const Tier* const in_place = all == tiers_.size() ? &tiers_[number] : nullptr;
    const bool found = std::any_of(tiers_.begin(), tiers_.end(),
                                   [&](const Tier& tier) { return tier.head && tier.head->head.tier == number; });
    if (in_place != nullptr && in_place->gone) {
      remark(fmt::format("{}: nothing is left on this tier; {} are lost", in_place->path(), what_it_held(entry)));
    } else if (!found && (in_place == nullptr || in_place->left_out)) {
      remark(fmt::format("tier {} of {} lies in none of the directories that were given; {} are missing", number, all,
                         what_it_held(entry)));
    }
    if (entry.losses == 0) continue;
    remark(fmt::format("tier {} has lost steps before, {} of them as far as is known, of those up to step {}", number,
                       entry.lost, entry.farthest));
  }
}

segment::TierEntry& Store::entry(std::uint32_t position) {
  const Tier& tier = tiers_[position];
  const std::size_t number = tier.head ? tier.head->head.tier : position;
  if (ledger_.tiers.size() <= number) ledger_.tiers.resize(number + 1);
  return ledger_.tiers[number];
}

void Store::lose(std::uint32_t position, std::string line) {
  tiers_[position].lost_some = true;
  remark(std::move(line));
}

void Store::tell_a_short_file(std::uint32_t position, std::uint64_t segments) {
  const segment::TierEntry& known = entry(position);
  if (tiers_[position].gone || segments >= known.slots) return;
  lose(position, fmt::format("{}: the file \"segments\" has {} and had {}; of {} some are lost",
                             tiers_[position].path(), plural(segments, "segment"), known.slots, what_it_held(known)));
}

void Store::count_losses(std::uint32_t position, std::uint64_t steps_found) {
  const Tier& tier = tiers_[position];
  segment::TierEntry& known = entry(position);
  if ((!tier.gone && !tier.lost_some) || (known.slots == 0 && known.steps == 0)) return;
  known.farthest = known.losses == 0 ? known.highest : std::max(known.farthest, known.highest);
  ++known.losses;
  known.lost += known.steps - std::min(known.steps, steps_found);
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
Done Store::write_heads(const std::vector<Held>& held) {
  const segment::Ledger told = ledger(held);
  for (std::size_t i = tiers_.size(); i-- > 0;) {
    auto ok = tiers_[i].home->write_head(head_for(static_cast<std::uint32_t>(i)), i == 0 ? epoch_ : 0, told);
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
    if (tier.gone || (tier.head && tier.head->epoch == epoch_)) continue;
    const auto ok =
        tier.head ? tier.home->write_epoch(id_, epoch_) : tier.home->write_head(head_for(i), epoch_, ledger_);
    if (!ok) return pass_on(ok);
  }
  return {};
}

// The other tiers hear of it first: a process that dies in between leaves a tier without a head, which is begun anew
// again.
Done Store::begin_anew() {
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    if (tiers_[i].gone) ledger_.tiers[i].life = new_identity();
  }
  if (std::none_of(tiers_.begin(), tiers_.end(), [](const Tier& tier) { return tier.gone; })) return {};
  ++ledger_.serial;
  for (const Tier& tier : tiers_) {
    if (tier.gone) continue;
    if (auto ok = tier.home->write_ledger(id_, ledger_); !ok) return pass_on(ok);
  }
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) {
    if (!tiers_[i].gone) continue;
    if (auto ok = tiers_[i].home->write_head(head_for(i), epoch_, ledger_); !ok) return pass_on(ok);
    tiers_[i].gone = false;
  }
  return {};
}

segment::Ledger Store::ledger(const std::vector<Held>& held) {
  ++ledger_.serial;
  ledger_.tiers.resize(tiers_.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    ledger_.tiers[i].slots = held[i].slots;
    ledger_.tiers[i].steps = held[i].steps;
    ledger_.tiers[i].highest = held[i].highest;
  }
  return ledger_;
}

// A ledger that is not told now is told with the next segment.
void Store::tell(const segment::Ledger& ledger) const {
  for (const Tier& tier : tiers_) {
    if (tier.home) (void)tier.home->write_ledger(id_, ledger);
  }
}

}  // namespace forebay::trajectory
