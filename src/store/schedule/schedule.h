// schedule: which states of a forward run to keep, and when to recompute the others, so that an adjoint that runs
// backwards finds each.
//
// Promises: pure: no files, no clocks, no allocation that grows with the number of steps. A schedule never keeps more
// states than its slots, and visits every step backwards exactly once. It takes as few forward steps as any schedule
// with these slots can, and keeps the fewest states on the way: t = r l - C(s+r, r-1) for l steps and s slots, r the
// least number with l <= C(s+r, s) (A. Griewank, A. Walther, Algorithm 799: Revolve, ACM TOMS 26 (2000),
// doi:10.1145/347837.347846). Must not know: what a state is, or where it lies.
//
//   auto plan = schedule::plan({.steps = 12500, ...});        how many slots in which tier, and what that will cost
//   Schedule schedule(12500, plan->slots);
//   while (auto action = schedule.next()) ...                 what the solver's loop does, action by action
//
// Names and meanings are those of the Python package checkpoint_schedules, so that either can drive a solver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"

namespace forebay::schedule {

using Step = std::int64_t;  // state n is the one before step n: step n leads from state n to state n + 1

enum class Storage { none, dram, pool, work };  // `work` is the solver's own memory

// Run steps n0 .. n1 - 1 from state n0, which is at hand. `keep_state`: state n0 is kept in `storage` first.
// `keep_dependencies`: n1 = n0 + 1, and what the adjoint of this step needs stays at hand (`storage` is `work`). A
// solver whose adjoint starts from the state itself need not run the step, unless this is its first and last, whose
// outcome is the end of the forward run.
struct Forward {
  Step n0 = 0, n1 = 0;
  bool keep_state = false, keep_dependencies = false;
  Storage storage = Storage::none;
  friend bool operator==(const Forward&, const Forward&) = default;
};
// Run the adjoint of step n1 - 1 = n0, whose dependencies are at hand.
struct Reverse {
  Step n1 = 0, n0 = 0;
  friend bool operator==(const Reverse&, const Reverse&) = default;
};
// State n is brought from `from` to `to` and stays where it was.
struct Copy {
  Step n = 0;
  Storage from = Storage::none, to = Storage::work;
  friend bool operator==(const Copy&, const Copy&) = default;
};
// State n is brought from `from` to `to`, and its slot is free.
struct Move {
  Step n = 0;
  Storage from = Storage::none, to = Storage::work;
  friend bool operator==(const Move&, const Move&) = default;
};
struct EndForward {
  friend bool operator==(const EndForward&, const EndForward&) = default;
};
struct EndReverse {
  friend bool operator==(const EndReverse&, const EndReverse&) = default;
};
using Action = std::variant<Forward, Reverse, Copy, Move, EndForward, EndReverse>;
std::string text(const Action& action);  // "Forward(0, 3, keep state in dram)"

// The number of states that may be kept at once in each tier. l - 1 slots keep everything.
struct Slots {
  Step dram = 0, pool = 0;
  Step total() const { return dram + pool; }
};

// The actions of one forward and adjoint run, one after the other. Which states lie in dram is chosen so that these
// are read and written most often. O(slots) memory. Wants steps >= 1 and, for more than one step, at least one slot.
class Schedule {
 public:
  Schedule(Step steps, Slots slots);
  // Nothing after EndReverse.
  std::optional<Action> next();

 private:
  struct Kept {
    Step n;
    Storage storage;
  };
  // For a tier per slot that is known already; what the choice of tiers itself uses.
  Schedule(Step steps, std::vector<Storage> storage_of_slot);
  static std::vector<Storage> choose_storage(Step steps, Slots slots);
  Step free_slots() const { return static_cast<Step>(storage_of_slot_.size() - kept_.size()); }
  Action keep_and_advance();

  enum class Phase { sweep, last_step, end_forward, reverse, restore, replay, end_reverse, ended };
  Step steps_;
  Step at_ = 0;      // the state at hand
  Step to_reverse_;  // steps whose adjoint has not run: 0 .. to_reverse_ - 1
  Phase phase_ = Phase::sweep;
  std::vector<Storage> storage_of_slot_;  // by the order in which slots fill
  std::vector<Kept> kept_;                // oldest first
};

// Forward steps of the schedule with `slots` slots, without those whose adjoint follows at once (the formula above);
// saturates at the largest Step.
Step forward_steps(Step steps, Step slots);

// A tier in which states may be kept.
struct Tier {
  std::uint64_t budget = 0;  // bytes
  double write_seconds = 0;  // of one state, measured
  double read_seconds = 0;
};

struct Question {
  Step steps = 0;
  std::uint64_t bytes_per_step = 0;  // after compression
  double forward_seconds = 0;        // of one step, measured
  double adjoint_seconds = 0;
  Tier dram, pool;
  bool overlapped = false;  // writing and reading run beside the solver, and cost only what exceeds its step
};

struct Plan {
  bool store_all = false;
  Slots slots;
  Step forward_steps = 0;                               // the formula above; steps - 1 when everything is stored
  std::uint64_t written[2] = {0, 0}, read[2] = {0, 0};  // states, in dram and pool
  double predicted_seconds = 0;                         // forward, adjoint, writing and reading

  std::string text() const;
};

// The schedule with the least predicted time that the budgets allow. bad_input where a number makes no sense, or where
// not even one state fits.
Result<Plan> plan(const Question& question);

}  // namespace forebay::schedule
