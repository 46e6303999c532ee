#include "run/journal/ledger.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

namespace forebay::drain {
namespace {

constexpr Identity identity{1, 2, 3, 4, 5};
constexpr LocalMark mark{6, 7, 8, 0644};

TEST(Ledger, WhatWasDrainedIsKnownAsItWas) {
  Ledger ledger;
  ledger.apply(drained_record("processor0/1/U", identity, mark, 9));
  const auto known = ledger.find("processor0/1/U");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->on_case, identity);
  EXPECT_EQ(known->drained, mark);
  EXPECT_FALSE(known->staged);
}

TEST(Ledger, WhatWasStagedIsKnownAsItWas) {
  Ledger ledger;
  ledger.apply(staged_record({"constant/a b\n", tree::Kind::copy, 0600, identity, ""}));
  const auto known = ledger.find("constant/a b\n");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->staged, tree::Kind::copy);
  EXPECT_EQ(known->on_case, identity);
  EXPECT_EQ(known->mode, 0600u);
}

TEST(Ledger, OwnersAndNumbersOfNamesAreKnownAndMissingInOlderJournals) {
  Ledger ledger;
  Identity several = identity;
  several.links = 3;
  Record staged = staged_record({"a", tree::Kind::link, 0600, several, "", {33, 34}});
  Record drained = drained_record("b", identity, {6, 7, 8, 0644, {33, 34}}, 9);
  ledger.apply(staged);
  ledger.apply(drained);
  EXPECT_EQ(ledger.find("a")->on_case->links, 3u);
  EXPECT_EQ(ledger.find("a")->owner, (Owner{33, 34}));
  EXPECT_EQ(ledger.find("b")->drained->owner, (Owner{33, 34}));
  staged.words.resize(9);
  drained.words.resize(11);
  ledger.apply(staged);
  ledger.apply(drained);
  EXPECT_EQ(ledger.find("a")->on_case->links, 0u);
  EXPECT_FALSE(ledger.find("a")->owner);
  EXPECT_EQ(ledger.find("b")->drained->owner, (Owner{::geteuid(), ::getegid()}));
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

TEST(Ledger, AVersionOfAnotherSizeOrTimeThanTheCasesIsKnownAsItWas) {
  Ledger ledger;
  const LocalMark other{6, 100, 200, 0600}, none{};
  ledger.apply(drained_record("a", identity, other, 9));
  ledger.apply(drained_record("processors2/1/U", identity, none, 9));
  EXPECT_EQ(ledger.find("a")->drained, other);
  EXPECT_EQ(ledger.find("processors2/1/U")->drained, none);
  ledger.apply(drained_record("a", identity, mark, 9));
  EXPECT_EQ(ledger.find("a")->drained, mark);
}

TEST(Ledger, WhatLiesBelowAPathIsVisitedParentsFirst) {
  Ledger ledger;
  for (const char* path : {"processor0", "processor0/1", "processor0/1/uniform", "processor0/10", "processor1"})
    ledger.apply(drained_directory_record(path, 0755));
  for (const char* path : {"processor0/1/U", "processor0/1/uniform/time", "processor0/10/U", "log"})
    ledger.apply(drained_record(path, identity, mark, 9));
  std::vector<std::string> found;
  const auto visit = [&](const std::string& path, const Known&) {
    found.push_back(path);
    return true;
  };
  ledger.each("processor0/1", visit);
  EXPECT_EQ(found, (std::vector<std::string>{"processor0/1", "processor0/1/U", "processor0/1/uniform",
                                             "processor0/1/uniform/time"}));
  found.clear();
  ledger.each("", visit);
  EXPECT_EQ(found.size(), 9u);
  ledger.apply(removed_record("processor0/1/U"));
  EXPECT_FALSE(ledger.find("processor0/1/U"));
  EXPECT_TRUE(ledger.find("processor0/1"));
}

// The goal is an agent below 50 MB with 200,000 drained files.
TEST(Ledger, ADrainedFileCostsLittleMemory) {
#ifdef FOREBAY_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator counts otherwise";
#endif
  constexpr int times = 2'000, files = 10;
  const auto used = [] {
    const auto info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const std::size_t before = used();
  Ledger ledger;
  for (int time = 0; time < times; ++time)
    for (int file = 0; file < files; ++file)
      ledger.apply(drained_record(fmt::format("processor0/0.{:05}/field{}", time, file), identity,
                                  {6, identity.size, identity.mtime_ns, 0644}, 9));
  EXPECT_LE((used() - before) / (times * files), 160u) << "bytes a file";
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
