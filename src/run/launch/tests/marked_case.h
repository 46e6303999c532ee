// A case with the mark of a launched run.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/tests/hand_clock.h"
#include "run/launch/plan.h"

namespace forebay::launch {

class MarkedCase : public testing::Test {
 protected:
  MarkedCase() {
    char name[] = "/tmp/forebay-marked-XXXXXX";
    plan.case_path = ::mkdtemp(name);
    plan.run = "run";
    plan.launched = true;
    EXPECT_TRUE(make_control_directory(plan));
  }
  ~MarkedCase() override { (void)remove_tree(plan.case_path); }

  Plan plan;
  HandClock clock;
};

}  // namespace forebay::launch
