// A Drain that a test drives as the agent does, on a clock that it moves by hand.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "run/drain/drain.h"
#include "run/publish/tests/case_fixture.h"

namespace forebay::drain {

class DrivenTest : public CaseTest {
 protected:
  void look() {
    ASSERT_TRUE(drain_->on_events());
    drain_->on_outcomes();
    if (drain_->doubts_checkpoints() && at_work_) drain_->vouch_for_checkpoints();
    drain_->tick();
  }
  // Where the mover is at work it is given the time to tell of it, on a busy machine, too.
  void pass_a_moment() {
    constexpr int longest_ms = 20;
    const MoverProgress progress = drain_->progress();
    pollfd outcomes{drain_->outcomes_descriptor(), POLLIN, 0};
    if (progress.queued + progress.active > 0) ::poll(&outcomes, 1, longest_ms);
    clock_.move(std::chrono::milliseconds(2));
  }
  virtual void round() {
    look();
    pass_a_moment();
  }
  bool drive(const std::function<bool()>& until) {
    for (int i = 0; i < 10'000 && !until(); ++i) round();
    return until();
  }
  void await_end() {
    for (int i = 0; i < 20'000 && !drain_->finished(); ++i) pass_a_moment();
  }

  // The mover is to stop at the first bytes that it writes, until release_mover().
  void hold_mover() {
    mover_is_held_ = true;
    mover_has_stopped_ = false;
    settings_.mover.publish.pace = [this](std::size_t) {
      mover_has_stopped_ = true;
      mover_is_held_.wait(true);
      return true;
    };
  }
  bool mover_has_stopped() const { return mover_has_stopped_; }
  void release_mover() {
    mover_is_held_ = false;
    mover_is_held_.notify_all();
  }

  DrainSettings settings_;
  bool at_work_ = true;  // whether somebody sees the program alive
  std::atomic<bool> mover_is_held_ = false, mover_has_stopped_ = false;
  std::unique_ptr<Drain> drain_;  // last: its threads look at the others
};

}  // namespace forebay::drain
