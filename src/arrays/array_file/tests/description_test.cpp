// Proves: a description that is not whole is an error, never an exception.
#include "arrays/array_file/description.h"

#include <gtest/gtest.h>

namespace forebay::array_file {
namespace {

TEST(DescriptionText, WhatLacksSomethingIsDamaged) {
  for (const char* const text : {"", "{}", "[]", "7", R"({"step": "x"})", R"({"step": 1, "time": 2})"}) {
    const auto decoded = decode(text);
    ASSERT_FALSE(decoded) << text;
    EXPECT_EQ(decoded.error().code, Code::lost);
  }
}

}  // namespace
}  // namespace forebay::array_file
