#include "arrays/blocks/c_handles.h"

#include <gtest/gtest.h>

#include "api/tests/no_memory.h"

namespace forebay::blocks {
namespace {

TEST(LocalCalls, WithoutMemoryTellSo) {
#ifdef FOREBAY_SANITIZED
  GTEST_SKIP() << "sanitizers end a process that can have no more memory";
#endif
  EXPECT_EQ(forebay_plan_get_block(nullptr, nullptr, nullptr), FOREBAY_E_INVALID);
  EXPECT_STREQ(forebay_error_get_text(), "the plan is missing (NULL)");
  EXPECT_EQ(api::without_memory([] { return forebay_plan_get_block(nullptr, nullptr, nullptr); }), FOREBAY_E_NO_MEMORY);

  const Team team{};
  forebay_checkpoints checkpoints{&team, nullptr, {}, {}, {}};
  EXPECT_EQ(forebay_checkpoints_get_array(&checkpoints, 3, nullptr), FOREBAY_E_INVALID);
  EXPECT_STREQ(forebay_error_get_text(), "there is no array 3: they are counted from 0 and there are 0");
  EXPECT_EQ(api::without_memory([&] { return forebay_checkpoints_get_array(&checkpoints, 3, nullptr); }),
            FOREBAY_E_NO_MEMORY);
}

}  // namespace
}  // namespace forebay::blocks
