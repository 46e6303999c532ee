#include "store/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "store/schedule/binomial.h"

namespace forebay::schedule {
namespace {

std::string_view name_of(Storage storage) {
  switch (storage) {
    case Storage::none:
      return "none";
    case Storage::dram:
      return "dram";
    case Storage::pool:
      return "pool";
    case Storage::work:
      return "work";
  }
  return "?";
}

struct Text {
  std::string operator()(const Forward& f) const {
    if (f.keep_state) return fmt::format("Forward({}, {}, keep state in {})", f.n0, f.n1, name_of(f.storage));
    return fmt::format("Forward({}, {}{})", f.n0, f.n1, f.keep_dependencies ? ", keep dependencies" : "");
  }
  std::string operator()(const Reverse& r) const { return fmt::format("Reverse({}, {})", r.n1, r.n0); }
  std::string operator()(const Copy& c) const {
    return fmt::format("Copy({}, {} to {})", c.n, name_of(c.from), name_of(c.to));
  }
  std::string operator()(const Move& m) const {
    return fmt::format("Move({}, {} to {})", m.n, name_of(m.from), name_of(m.to));
  }
  std::string operator()(const EndForward&) const { return "EndForward()"; }
  std::string operator()(const EndReverse&) const { return "EndReverse()"; }
};

}  // namespace

std::string text(const Action& action) {
  return std::visit(Text{}, action);
}

Schedule::Schedule(Step steps, Slots slots) : Schedule(steps, choose_storage(steps, slots)) {}

Schedule::Schedule(Step steps, std::vector<Storage> storage_of_slot)
    : steps_(steps), to_reverse_(steps), storage_of_slot_(std::move(storage_of_slot)) {
  kept_.reserve(storage_of_slot_.size());
}

// Counts how often each slot is used by the schedule, which does not depend on the tiers, and gives dram to the busiest
// (P. Stumm, A. Walther, MultiStage approaches for optimal offline checkpointing, SIAM J. Sci. Comput. 31 (2009)).
// Among equals the newest states, which are read first, are the nearest.
std::vector<Storage> Schedule::choose_storage(Step steps, Slots slots) {
  const Step used = std::clamp<Step>(slots.total(), 0, std::max<Step>(steps - 1, 0));
  const auto count = static_cast<std::size_t>(used);
  if (slots.pool <= 0) return std::vector<Storage>(count, Storage::dram);
  if (slots.dram <= 0) return std::vector<Storage>(count, Storage::pool);

  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::int64_t> uses(count, 1);
  if (used < steps - 1) {
    Schedule trial(steps, std::vector<Storage>(count, Storage::dram));
    while (const auto action = trial.next()) {
      if (const auto* f = std::get_if<Forward>(&*action); f && f->keep_state) ++uses[trial.kept_.size() - 1];
      if (std::holds_alternative<Copy>(*action)) ++uses[trial.kept_.size() - 1];
      if (std::holds_alternative<Move>(*action)) ++uses[trial.kept_.size()];
    }
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return uses[a] != uses[b] ? uses[a] > uses[b] : a > b; });
  std::vector<Storage> result(count, Storage::pool);
  for (std::size_t i = 0; i < std::min(count, static_cast<std::size_t>(slots.dram)); ++i)
    result[order[i]] = Storage::dram;
  return result;
}

Action Schedule::keep_and_advance() {
  const Step n0 = at_;
  at_ += advance(to_reverse_ - n0, free_slots());
  const Storage storage = storage_of_slot_[kept_.size()];
  kept_.push_back({n0, storage});
  return Forward{n0, at_, true, false, storage};
}

std::optional<Action> Schedule::next() {
  switch (phase_) {
    case Phase::sweep:
      // Keeps states on the way until one step is left, whose adjoint comes next.
      if (at_ < to_reverse_ - 1 && free_slots() > 0) return keep_and_advance();
      [[fallthrough]];
    case Phase::last_step:
      phase_ = to_reverse_ == steps_ ? Phase::end_forward : Phase::reverse;
      at_ = to_reverse_;
      return Forward{at_ - 1, at_, false, true, Storage::work};
    case Phase::end_forward:
      phase_ = Phase::reverse;
      return EndForward{};
    case Phase::reverse:
      --to_reverse_;
      phase_ = to_reverse_ == 0 ? Phase::end_reverse : Phase::restore;
      return Reverse{to_reverse_ + 1, to_reverse_};
    case Phase::restore: {
      const Kept kept = kept_.back();
      at_ = kept.n;
      if (at_ == to_reverse_ - 1) {
        kept_.pop_back();
        phase_ = Phase::last_step;
        return Move{kept.n, kept.storage, Storage::work};
      }
      phase_ = Phase::replay;
      return Copy{kept.n, kept.storage, Storage::work};
    }
    case Phase::replay: {
      // The state at hand is kept already: its slot counts among those that this part of the run may use.
      const Step n0 = at_;
      at_ += advance(to_reverse_ - n0, free_slots() + 1);
      phase_ = Phase::sweep;
      return Forward{n0, at_, false, false, Storage::none};
    }
    case Phase::end_reverse:
      phase_ = Phase::ended;
      return EndReverse{};
    case Phase::ended:
      break;
  }
  return std::nullopt;
}

}  // namespace forebay::schedule
