// A Drain on a case in one piece, driven by hand.
#pragma once

#include <unistd.h>

#include <chrono>

#include "run/drain/tests/driven.h"

namespace forebay::drain {

class WholeCaseTest : public DrivenTest {
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
    auto inputs = tree::list_inputs(stage);
    ASSERT_TRUE(inputs) << inputs.error().text();
    tree::StageProgress progress;
    ASSERT_TRUE(tree::carry_out(stage, *inputs, progress));
    auto drain = Drain::open(asked, clock_);
    ASSERT_TRUE(drain) << drain.error().text();
    drain_ = std::move(*drain);
    ASSERT_TRUE(drain_->add_rank(-1, pool_));
    ASSERT_TRUE(drain_->add_root({tree_, "", pool_}, inputs->entries));
  }

  DrainReport finish(bool cleanly = true) {
    EXPECT_TRUE(drain_->begin_finish(cleanly));
    await_end();
    return drain_->report();
  }

  std::string tree_;
};

}  // namespace forebay::drain
