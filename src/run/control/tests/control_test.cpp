// Proves what is to be done about a name that somebody changed on the case; and looks at a case.
#include "run/control/control.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "run/publish/tests/case_fixture.h"
#include "run/publish/tests/faulty_files.h"

namespace forebay::control {
namespace {

using drain::Known;

OnCase file(std::uint64_t inode, std::uint64_t size = 1) {
  return {.identity = {.inode = inode, .size = size}};
}
const OnCase directory{.kind = OnCase::Kind::directory};

Known staged(tree::Kind kind, const OnCase& there) {
  Known known;
  known.staged = kind;
  known.directory = kind == tree::Kind::directory;
  known.on_case = there.identity;
  return known;
}
Known carried(const OnCase& there) {
  Known known;
  known.on_case = there.identity;
  known.drained = drain::LocalMark{};
  return known;
}
Known removed(Known known) {
  known.deleted = true;
  return known;
}

TEST(ActTest, WhatIsNewOnTheCaseIsShown) {
  EXPECT_EQ(act_on(file(1), std::nullopt, Here::nothing, false), Act::show);
  EXPECT_EQ(act_on(directory, std::nullopt, Here::nothing, false), Act::show);
}

TEST(ActTest, LinksThatLeadOutOfTheCaseAreKnown) {
  const auto link_to = [](const char* target) { return OnCase{.kind = OnCase::Kind::link, .target = target}; };
  EXPECT_FALSE(leads_out("system/STOP", link_to("../other")));
  EXPECT_TRUE(leads_out("system/STOP", link_to("../../other")));
  EXPECT_TRUE(leads_out("STOP", link_to("/etc/passwd")));
  EXPECT_FALSE(leads_out("STOP", file(1)));
}

TEST(ActTest, WhatTheDrainPutThereIsNoNews) {
  for (const Here here : {Here::same, Here::other, Here::link})
    EXPECT_EQ(act_on(file(1), carried(file(1)), here, false), Act::none);
  EXPECT_EQ(act_on(directory, staged(tree::Kind::directory, directory), Here::directory, false), Act::none);
}

TEST(ActTest, WhatTheProgramRemovedIsNotBroughtBackUnlessSomebodyPutsAnotherThere) {
  const Known known = removed(staged(tree::Kind::link, file(1)));
  EXPECT_EQ(act_on(file(1), known, Here::nothing, true), Act::none);
  EXPECT_EQ(act_on(file(2), known, Here::nothing, true), Act::show);
  EXPECT_EQ(act_on(std::nullopt, known, Here::nothing, true), Act::none);
  // It was removed a moment ago, and that was not told yet.
  EXPECT_EQ(act_on(file(2), staged(tree::Kind::link, file(1)), Here::nothing, true), Act::none);
}

TEST(ActTest, AnEditReachesACopyAndAnOutputThatTheProgramLeftAlone) {
  EXPECT_EQ(act_on(file(1, 2), staged(tree::Kind::copy, file(1)), Here::same, false), Act::show);
  EXPECT_EQ(act_on(file(2), carried(file(1)), Here::same, false), Act::show);
}

TEST(ActTest, AnEditThatALinkShowsIsNotedWhereTheNameCameDuringTheRun) {
  const Known known = staged(tree::Kind::link, file(1));
  EXPECT_EQ(act_on(file(1, 2), known, Here::link, true), Act::note);
  EXPECT_EQ(act_on(file(1, 2), known, Here::link, false), Act::none);
  EXPECT_EQ(act_on(directory, std::nullopt, Here::link, false), Act::none);  // stays on the case (--direct)
}

TEST(ActTest, WhatBothMadeOrChangedIsCarriedAtOnceToBeAConflict) {
  EXPECT_EQ(act_on(file(1), std::nullopt, Here::other, false), Act::carry);
  EXPECT_EQ(act_on(file(2), staged(tree::Kind::copy, file(1)), Here::other, false), Act::carry);
  Known grows = carried(file(1));
  grows.grows = true;
  EXPECT_EQ(act_on(file(2), grows, Here::other, false), Act::none);
  EXPECT_EQ(act_on(directory, std::nullopt, Here::directory, false), Act::none);
}

TEST(ActTest, WhatIsGoneFromTheCaseIsTakenAwayUnlessTheProgramHasChangedIt) {
  EXPECT_EQ(act_on(std::nullopt, staged(tree::Kind::link, file(1)), Here::link, false), Act::take);
  EXPECT_EQ(act_on(std::nullopt, carried(file(1)), Here::same, false), Act::take);
  EXPECT_EQ(act_on(std::nullopt, staged(tree::Kind::directory, directory), Here::directory, false), Act::take);
  EXPECT_EQ(act_on(std::nullopt, staged(tree::Kind::copy, file(1)), Here::other, false), Act::none);
  EXPECT_EQ(act_on(std::nullopt, std::nullopt, Here::other, false), Act::none);  // it was never there
}

TEST(TouchedTest, TellsOfANameAndOfWhatIsAboveAndBelowIt) {
  Touched touched;
  const Clock::time_point start{}, later = start + std::chrono::seconds(1);
  touched.note("a/b", later);
  for (const char* path : {"a", "a/b", "a/b/c"}) EXPECT_TRUE(touched.since(path, start)) << path;
  for (const char* path : {"a/bc", "a/c", "b"}) EXPECT_FALSE(touched.since(path, start)) << path;
  EXPECT_FALSE(touched.since("a/b", later + std::chrono::seconds(1)));
  touched.forget_before(later + std::chrono::seconds(1));
  EXPECT_EQ(touched.size(), 0u);
}

class LookTest : public drain::CaseTest {
 protected:
  void SetUp() override {
    CaseTest::SetUp();
    for (const std::string name :
         {"STOP", "system/controlDict", "constant/polyMesh/points", "other/file", "0.5/U", "processor0/0/U",
          "constant/boundaryData/inlet/0/U", ".forebay/plan.json", "kept.forebay-run1", "dir/.fb-0123456789abcdef"})
      write(case_ + "/" + name, name);
    watched_ = {.case_path = case_,
                .lower = {},
                .run = "run1",
                .directories = {"", "system", "constant", "missing"},
                .left_out = {".forebay"}};
  }
  std::set<std::string> names(const Look& found) const {
    std::set<std::string> all;
    for (const auto& [path, there] : found.names) all.insert(path);
    return all;
  }

  Watched watched_;
};

TEST_F(LookTest, TellsOfTheCaseItselfAndOfAllBelowTheWatchedDirectoriesButTimesAndRanksAndItsOwnNames) {
  const Look found = look(*files_, watched_, clock_);
  EXPECT_EQ(names(found),
            (std::set<std::string>{"STOP", "system", "system/controlDict", "constant", "constant/polyMesh",
                                   "constant/polyMesh/points", "constant/boundaryData", "constant/boundaryData/inlet",
                                   "other", "dir"}));
  EXPECT_TRUE(found.whole.contains("constant/polyMesh") && !found.whole.contains("other"));
}

TEST_F(LookTest, ListsEachDirectoryOnce) {
  drain::FaultyFiles counted(*files_);
  std::map<std::string, int> listings;
  counted.before = [&](const std::string& call, const std::string& path) {
    if (call == "list") ++listings[path];
  };
  watched_.directories.push_back("constant/polyMesh");
  (void)look(counted, watched_, clock_);
  EXPECT_EQ(listings.size(), 7u);  // the case, system, constant, its polyMesh, its boundaryData/inlet, missing
  for (const auto& [path, count] : listings) EXPECT_EQ(count, 1) << path;
}

TEST_F(LookTest, TheThreadListsEachDirectoryOnceASecondAndWakesNobodyWhereNothingIsNew) {
  const auto counted = std::make_shared<drain::FaultyFiles>(*files_);
  std::atomic<int> listings = 0, wakes = 0;
  counted->before = [&](const std::string& call, const std::string&) { listings += call == "list" ? 1 : 0; };
  Lookout lookout(
      counted, watched_, pool_ + "/aside", [&] { ++wakes; }, clock_);
  clock_.await_waiting();
  EXPECT_TRUE(lookout.take_look());
  for (int second = 1; second <= 3; ++second) {
    EXPECT_EQ(listings, 7 * second);
    clock_.move(std::chrono::seconds(1));
    clock_.await_waiting();
    EXPECT_FALSE(lookout.take_look());
  }
  EXPECT_EQ(wakes, 1);
  write(case_ + "/system/topoSetDict", "new");
  clock_.move(std::chrono::seconds(1));
  clock_.await_waiting();
  const auto found = lookout.take_look();
  EXPECT_TRUE(found && found->names.contains("system/topoSetDict"));
  lookout.look_again();
  clock_.move(std::chrono::seconds(1));
  clock_.await_waiting();
  EXPECT_EQ(wakes, 3);
}

TEST_F(LookTest, ADirectoryWithTooManyNamesIsToldAndItsFilesAreNotLookedAt) {
  std::filesystem::create_directory(case_ + "/constant/many");
  for (std::size_t i = 0; i <= most_names; ++i)
    ASSERT_EQ(::symlink("x", (case_ + "/constant/many/" + std::to_string(i) + "x").c_str()), 0);
  drain::FaultyFiles counted(*files_);
  const Look found = look(counted, watched_, clock_);
  EXPECT_EQ(found.too_large, std::set<std::string>{"constant/many"});
  EXPECT_FALSE(found.whole.contains("constant/many"));
  EXPECT_LT(counted.calls(), 100);
  const Ready made = make_ready(*files_, watched_, {"constant/many", directory}, pool_ + "/aside", clock_);
  EXPECT_TRUE(made.failure && !made.holds);
  EXPECT_FALSE(name_exists(pool_ + "/aside"));
}

TEST_F(LookTest, WhatCannotBeLookedAtIsNotAbsent) {
  drain::FaultyFiles faulty(*files_);
  faulty.refuse("status", EIO, "controlDict");
  const Look found = look(faulty, watched_, clock_);
  EXPECT_FALSE(found.whole.contains("system"));
  EXPECT_TRUE(found.whole.contains("constant"));
}

TEST_F(LookTest, WhatIsToBeShownIsMadeAsItWouldHaveBeenStaged) {
  watched_.lower = "/lower";
  watched_.copied = {"*/points"};
  const Ready made = make_ready(*files_, watched_, {"constant", directory}, pool_ + "/aside", clock_);
  ASSERT_TRUE(made.holds) << (made.failure ? made.failure->text() : "");
  EXPECT_EQ(content(pool_ + "/aside/polyMesh/points"), "constant/polyMesh/points");
  EXPECT_EQ(made.entries.front().path, "constant");
  EXPECT_FALSE(name_exists(pool_ + "/aside/boundaryData/inlet/0"));
  const Ready stop = make_ready(*files_, watched_, {"STOP", file(1)}, pool_ + "/stop", clock_);
  EXPECT_EQ(read_link(pool_ + "/stop").value_or(""), "/lower/STOP");
  EXPECT_TRUE(stop.holds);
}

TEST_F(LookTest, ANameThatAListingLacksButThatIsThereStays) {
  EXPECT_FALSE(make_ready(*files_, watched_, {"STOP", std::nullopt}, pool_ + "/aside", clock_).holds);
  ASSERT_EQ(::unlink((case_ + "/STOP").c_str()), 0);
  EXPECT_TRUE(make_ready(*files_, watched_, {"STOP", std::nullopt}, pool_ + "/aside", clock_).holds);
}

}  // namespace
}  // namespace forebay::control
