#include "run/advice/statuses.h"

#include <gtest/gtest.h>

#include "base/base.h"

namespace forebay::advice {
namespace {

TEST(Statuses, ThePageHoldsTheirTable) {
  const std::string page = std::string(parent_of(__FILE__)) + "/../../../../docs/exit-codes.md";
  const auto text = read_file(page);
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_NE(text->find(statuses_as_markdown()), std::string::npos) << "docs/exit-codes.md should hold this table:\n"
                                                                   << statuses_as_markdown();
}

TEST(Statuses, WhatHelpsNamesACommandForTheCaseAndNeverOnlyToThrowAway) {
  for (const Code code : {Code::undrained, Code::lost, Code::conflict, Code::pool_full, Code::busy}) {
    const std::string helps = what_helps(code, "/shared/a case");
    EXPECT_NE(helps.find("`"), std::string::npos) << helps;
    EXPECT_NE(helps.find("'/shared/a case'"), std::string::npos) << helps;
    EXPECT_EQ(helps.find("throw"), std::string::npos) << helps;
  }
  EXPECT_EQ(what_helps(Code::failed, "/shared/case"), "");
}

}  // namespace
}  // namespace forebay::advice
