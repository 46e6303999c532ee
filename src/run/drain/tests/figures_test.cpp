#include "run/drain/figures.h"

#include <gtest/gtest.h>

namespace forebay::drain {
namespace {

TEST(FiguresTest, WhileTheProgramWorksWhatWasClosedOrCarriedWasWritten) {
  Figures figures;
  figures.closed(100);
  figures.grew(20);
  EXPECT_EQ(figures.amounts().written, (Amount{1, 120}));
  for (const bool again : {false, false, true}) figures.carried_file(again);
  figures.carried_bytes(300);
  EXPECT_EQ(figures.amounts().written, (Amount{2, 300})) << "two of them were not seen to be closed";
  EXPECT_EQ(figures.amounts().shared.bytes, 300U);
  const Amounts told = figures.amounts();
  EXPECT_TRUE(told.written_is_more) << "nobody has looked at the trees yet";
  EXPECT_EQ(told.shared.files, 2U);
  EXPECT_EQ(told.shared.again, 1U);
}

TEST(FiguresTest, AtTheEndItIsWhatTheTreesHoldAndWhatIsGone) {
  Figures figures;
  figures.closed(100);
  figures.closed(50);
  figures.gone(50);
  figures.never_shared(50);
  figures.found({1, 120});
  figures.found_read({1, 7});
  const Amounts told = figures.amounts();
  EXPECT_EQ(told.written, (Amount{2, 170}));
  EXPECT_FALSE(told.written_is_more);
  EXPECT_EQ(told.never_shared, (Amount{1, 50}));
  EXPECT_EQ(told.read_back, (Amount{1, 7}));
  figures.gone(Amount{1, 5});
  EXPECT_EQ(figures.amounts().written, (Amount{3, 175}));
}

TEST(FiguresTest, WhatARenamedDirectoryHoldsIsNotWrittenTwice) {
  Figures figures;
  for (int i = 0; i < 2; ++i) figures.closed(100);
  figures.counts_twice();
  EXPECT_EQ(figures.amounts().written, (Amount{2, 200}));
  figures.found({1, 100});
  EXPECT_EQ(figures.amounts().written, (Amount{1, 100}));
}

TEST(FiguresTest, ItMayBeMoreWhereNotAllIsKnown) {
  const auto may_be_more = [](auto tell) {
    Figures figures;
    figures.closed(1);
    figures.found({1, 1});
    tell(figures);
    return figures.amounts().written_is_more;
  };
  EXPECT_FALSE(may_be_more([](Figures&) {}));
  EXPECT_TRUE(may_be_more([](Figures& figures) { figures.missed(); }));
  EXPECT_TRUE(may_be_more([](Figures& figures) { figures.unseen(1); }));
  EXPECT_FALSE(may_be_more([](Figures& figures) { figures.unseen(0); }));
  EXPECT_TRUE(may_be_more([](Figures& figures) { figures.gone_unknown(); }));
  EXPECT_TRUE(may_be_more([](Figures& figures) { figures.closed(1); })) << "one is gone, and nobody told how";
}

}  // namespace
}  // namespace forebay::drain
