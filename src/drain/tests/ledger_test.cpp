#include "drain/ledger.h"

#include <gtest/gtest.h>

namespace forebay::drain {
namespace {

constexpr Identity identity{1, 2, 3, 4, 5};
constexpr LocalMark mark{6, 7, 8, 0644};

TEST(Ledger, WhatWasDrainedIsKnownAsItWas) {
  Ledger ledger;
  ledger.apply(drained_record("processor0/1/U", identity, mark, 9));
  const Known* known = ledger.find("processor0/1/U");
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->on_case, identity);
  EXPECT_EQ(known->drained, mark);
  EXPECT_FALSE(known->staged);
}

TEST(Ledger, WhatWasStagedIsKnownAsItWas) {
  Ledger ledger;
  ledger.apply(staged_record({"constant/a b\n", tree::Kind::copy, 0600, identity, ""}));
  const Known* known = ledger.find("constant/a b\n");
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->staged, tree::Kind::copy);
  EXPECT_EQ(known->on_case, identity);
  EXPECT_EQ(known->mode, 0600u);
}

TEST(Ledger, ADeletionCountsUntilThePathIsDrainedAgain) {
  Ledger ledger;
  ledger.apply(drained_record("a", identity, mark, 9));
  ledger.apply(deleted_record("a"));
  EXPECT_TRUE(ledger.find("a")->deleted);
  ledger.apply(drained_record("a", identity, mark, 9));
  EXPECT_FALSE(ledger.find("a")->deleted);
}

TEST(Ledger, OnlyTemporariesThatAreNotGoneRemain) {
  Ledger ledger;
  ledger.apply(temporary_record(".fb-1", true));
  ledger.apply(temporary_record(".fb-2", true));
  ledger.apply(temporary_record(".fb-1", false));
  EXPECT_EQ(ledger.temporaries(), std::set<std::string>{".fb-2"});
}

TEST(Ledger, ACollatedTimeBelongsToItsRanksUntilItIsTakenBack) {
  Ledger ledger;
  const CollatedTime collated{"0.1", "processors4_0-1", 0, 1};
  ledger.apply(collated_record(collated));
  EXPECT_TRUE(ledger.collated_of(1, "0.1"));
  EXPECT_FALSE(ledger.collated_of(2, "0.1"));
  ledger.apply(uncollated_record(collated));
  EXPECT_FALSE(ledger.collated_of(1, "0.1"));
}

TEST(Ledger, DamagedNumbersAreNeverTakenForAnIdentity) {
  Ledger ledger;
  ledger.apply({"drained", {"a", "x", "", "3"}});
  EXPECT_NE(ledger.find("a")->on_case, identity);
  ledger.apply({"drained", {}});
  ledger.apply({"unheard-of", {"a"}});
}

}  // namespace
}  // namespace forebay::drain
