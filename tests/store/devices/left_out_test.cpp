#include <gtest/gtest.h>

#include "store/segment/device_tier.h"

namespace forebay::segment {
namespace {

TEST(DevicesLeftOut, AreRefusedWithThePathAndTheOption) {
  ASSERT_TRUE(is_device("/dev/null"));
  const auto opened = open_device_tier("/dev/null", "x-0", true, std::uint64_t{1} << 20);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::bad_input);
  for (const char* words : {"without FOREBAY_DEVDAX", "/dev/null", "-DFOREBAY_DEVDAX=ON"}) {
    EXPECT_NE(opened.error().text().find(words), std::string::npos) << opened.error().text();
  }
}

TEST(DevicesLeftOut, ADirectoryIsNone) {
  EXPECT_FALSE(is_device("/dev"));
  EXPECT_FALSE(is_device("/nonexistent"));
}

}  // namespace
}  // namespace forebay::segment
