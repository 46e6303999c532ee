// A Drain on a case in one piece, driven by hand.
#pragma once

#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "run/drain/drain.h"
#include "run/drain/tests/case_fixture.h"

namespace forebay::drain {

class WholeCaseTest : public CaseTest {
 protected:
  void SetUp() override {
    CaseTest::SetUp();
    tree_ = pool_ + "/tree";
    write(pool_ + "/" + sentinel_name, "{}");
    settings_.settle = std::chrono::milliseconds(0);
    settings_.patience = std::chrono::seconds(5);
  }

  DrainRequest request() const { return {case_, "run1", pool_, pool_ + "/lower", false, settings_}; }

  // The whole case as links.
  void start() {
    const DrainRequest asked = request();
    ASSERT_EQ(::symlink(case_.c_str(), asked.lower.c_str()), 0);
    const tree::StageRequest stage{case_, "", tree_, asked.lower, {}, {}, 1};
    const auto plan = tree::plan(stage);
    ASSERT_TRUE(plan) << plan.error().text();
    tree::StageProgress progress;
    ASSERT_TRUE(tree::carry_out(stage, *plan, progress));
    auto drain = Drain::open(asked);
    ASSERT_TRUE(drain) << drain.error().text();
    drain_ = std::move(*drain);
    ASSERT_TRUE(drain_->add_rank(-1, pool_));
    ASSERT_TRUE(drain_->add_root({tree_, "", pool_}, plan->entries));
  }

  // As the agent does, again and again.
  bool drive(const std::function<bool()>& until) {
    for (int i = 0; i < 1000 && !until(); ++i) {
      EXPECT_TRUE(drain_->on_events());
      drain_->on_outcomes();
      for (const int rank : drain_->take_doubtful_ranks())
        if (at_work_) drain_->vouch(rank);
      drain_->tick();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return until();
  }

  DrainReport finish(bool cleanly = true) {
    EXPECT_TRUE(drain_->begin_finish(cleanly));
    const auto until = Clock::now() + std::chrono::seconds(20);
    while (!drain_->finished() && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return drain_->report();
  }

  std::string tree_;
  DrainSettings settings_;
  bool at_work_ = true;  // whether somebody sees the program alive
  std::unique_ptr<Drain> drain_;
};

}  // namespace forebay::drain
