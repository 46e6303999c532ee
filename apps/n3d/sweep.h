// A forward run and the adjoint that reads its states backwards, driven by a schedule.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "objective.h"
#include "progress.h"
#include "store.h"

namespace n3d {

// Seconds of this rank by what they were spent on, and how often.
struct Phase {
  double seconds = 0;
  std::int64_t count = 0;
};
struct Phases {
  Phase forward;      // steps of forward runs
  Phase recompute;    // steps taken again for the adjoint, as the schedule says
  Phase adjoint;      // transposed steps, which compute the stages of their step again
  Phase write, read;  // of states
  Phase objective;
};

// Where a sweep keeps states, and how many at once; steps - 1 in all are enough for every state.
struct StateTiers {
  StateStore& dram;
  StateStore* pool = nullptr;  // wanted where slots.pool > 0
  forebay::schedule::Slots slots;

  StateStore& of(forebay::schedule::Storage storage) const {
    return storage == forebay::schedule::Storage::pool ? *pool : dram;
  }
};

class Sweep {
 public:
  // The state that is handed over and every gradient are this rank's part. The stores are rewound at the start of each
  // run.
  Sweep(NavierStokes& flow, Objective& objective, const StateTiers& tiers, Progress& progress);

  // J(u0), without keeping states. Fields with divergence are projected first. Collective, as all here.
  double value(std::span<const double> start);
  // J(u0) and its gradient in the mean of a.b, free of divergence.
  Result<double> gradient(std::span<const double> start, std::span<double> gradient);
  // The state after the last step of the last run.
  std::span<const double> end() const { return end_; }

  const Phases& phases() const { return phases_; }

 private:
  struct Run;
  // Into memory of a store, or else into the buffer that is free.
  void step(std::span<double> to);
  void take(std::span<const double> state);

  NavierStokes& flow_;
  Objective& objective_;
  StateTiers tiers_;
  Progress& progress_;
  Phases phases_;
  // The state at hand lies in one of two buffers, or in the store.
  std::vector<double> buffers_[2], end_;
  std::span<const double> at_;
};

}  // namespace n3d
