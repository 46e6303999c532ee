#include "base/page_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace forebay {
namespace {

TEST(PageBuffer, BeginsAtAPageAndIsWritableToItsEnd) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, (std::size_t{1} << 20) + 1}) {
    const PageBuffer buffer(bytes);
    ASSERT_EQ(buffer.bytes().size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % 4096, 0u) << bytes;
    std::ranges::fill(buffer.bytes(), std::byte{0x5a});
    EXPECT_EQ(buffer.bytes().back(), std::byte{0x5a});
  }
}

}  // namespace
}  // namespace forebay
