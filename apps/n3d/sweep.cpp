#include "sweep.h"

#include <algorithm>
#include <cmath>

namespace n3d {
namespace {

using forebay::schedule::Schedule;

class Timed {
 public:
  explicit Timed(Phase& phase) : phase_(phase), start_(MPI_Wtime()) {}
  ~Timed() {
    phase_.seconds += MPI_Wtime() - start_;
    ++phase_.count;
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Phase& phase_;
  double start_;
};

}  // namespace

// One run through the actions of a schedule.
struct Sweep::Run {
  Sweep& sweep;
  std::span<double> adjoint;
  double value = 0;
  bool forward_ended = false;
  std::optional<forebay::schedule::Action> following{};
  std::optional<forebay::schedule::Move> drop_after_use{};
  std::span<const double> before_last{};

  Step steps() const { return sweep.objective_.steps(); }

  void add_term(Step n) {
    Timed timed(sweep.phases_.objective);
    value += sweep.objective_.term(n, sweep.at_);
  }
  // Where the state behind the last step of an action is kept next, if it is.
  StateStore* keeps_next() const {
    const auto* forward = following ? std::get_if<forebay::schedule::Forward>(&*following) : nullptr;
    return forward != nullptr && forward->keep_state ? &sweep.tiers_.of(forward->storage) : nullptr;
  }
  // `keeps`: the store that will keep the state behind this step, or nullptr.
  Status advance(Step n, StateStore* keeps) {
    std::span<double> to;
    if (keeps != nullptr) {
      Timed timed(sweep.phases_.write);
      const auto begun = keeps->begin(n + 1);
      if (!begun) return forebay::forward(begun);
      to = *begun;
    }
    {
      Timed timed(forward_ended ? sweep.phases_.recompute : sweep.phases_.forward);
      sweep.step(to);
    }
    if (forward_ended) return {};
    add_term(n + 1);
    sweep.progress_.show("forward", n + 1, steps());
    return {};
  }
  Status operator()(const forebay::schedule::Forward& action) {
    if (action.keep_state) {
      Timed timed(sweep.phases_.write);
      if (const auto put = sweep.tiers_.of(action.storage).put(action.n0, sweep.at_); !put) return put;
    }
    // The adjoint of a step computes its stages from the state at hand, so only the first run needs the step itself.
    if (action.keep_dependencies && forward_ended) return {};
    if (action.keep_dependencies) before_last = sweep.at_;
    for (Step n = action.n0; n < action.n1; ++n)
      if (const auto done = advance(n, n + 1 == action.n1 ? keeps_next() : nullptr); !done) return done;
    return {};
  }
  Status operator()(const forebay::schedule::EndForward&) {
    forward_ended = true;
    std::fill(adjoint.begin(), adjoint.end(), 0.0);
    {
      Timed timed(sweep.phases_.objective);
      sweep.objective_.add_derivative(steps(), sweep.at_, adjoint);
    }
    std::copy(sweep.at_.begin(), sweep.at_.end(), sweep.end_.begin());
    sweep.at_ = before_last;  // still whole: a step writes into the other buffer
    return {};
  }
  Status operator()(const forebay::schedule::Reverse& action) {
    {
      Timed timed(sweep.phases_.adjoint);
      sweep.flow_.adjoint_step(sweep.at_, adjoint);
    }
    {
      Timed timed(sweep.phases_.objective);
      sweep.objective_.add_derivative(action.n0, sweep.at_, adjoint);
    }
    if (drop_after_use) sweep.tiers_.of(drop_after_use->from).drop(drop_after_use->n);
    drop_after_use.reset();
    sweep.progress_.show("adjoint", steps() - action.n0, steps());
    return {};
  }
  Status operator()(const forebay::schedule::Copy& action) {
    Timed timed(sweep.phases_.read);
    const auto state = sweep.tiers_.of(action.from).get(action.n);
    if (!state) return forebay::forward(state);
    sweep.at_ = *state;
    return {};
  }
  Status operator()(const forebay::schedule::Move& action) {
    drop_after_use = action;
    return (*this)(forebay::schedule::Copy{action.n, action.from, action.to});
  }
  Status operator()(const forebay::schedule::EndReverse&) { return {}; }
};

Sweep::Sweep(NavierStokes& flow, Objective& objective, const StateTiers& tiers, Progress& progress)
    : flow_(flow), objective_(objective), tiers_(tiers), progress_(progress) {
  for (auto* buffer : {&buffers_[0], &buffers_[1], &end_}) buffer->resize(flow.grid().state_size());
}

void Sweep::step(std::span<double> to) {
  if (to.empty()) to = buffers_[at_.data() == buffers_[0].data() ? 1 : 0];
  flow_.step(at_, to);
  at_ = to;
}

void Sweep::take(std::span<const double> state) {
  std::copy(state.begin(), state.end(), buffers_[0].begin());
  flow_.project(buffers_[0]);
  at_ = buffers_[0];
}

double Sweep::value(std::span<const double> start) {
  take(start);
  Run run{*this, {}};
  run.add_term(0);
  for (Step n = 0; n < objective_.steps(); ++n) (void)run.advance(n, nullptr);
  std::copy(at_.begin(), at_.end(), end_.begin());
  return run.value;
}

Result<double> Sweep::gradient(std::span<const double> start, std::span<double> gradient) {
  for (StateStore* store : {&tiers_.dram, tiers_.pool})
    if (store != nullptr)
      if (const auto rewound = store->rewind(); !rewound) return forebay::forward(rewound);
  take(start);
  Run run{*this, gradient};
  run.add_term(0);
  Schedule schedule(objective_.steps(), tiers_.slots);
  for (auto action = schedule.next(); action; action = run.following) {
    run.following = schedule.next();
    if (const auto done = std::visit(run, *action); !done) return forebay::forward(done);
  }
  flow_.project(gradient);
  if (!std::isfinite(run.value))
    return forebay::error(forebay::Code::failed, "the flow has blown up", {}, "take a smaller --time-step");
  return run.value;
}

}  // namespace n3d
