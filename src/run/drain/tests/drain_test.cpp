// A Drain driven by hand: events, ticks and the end, on temporary directories.
#include "run/drain/drain.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "run/drain/tests/late_writer.h"
#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

using namespace std::chrono_literals;

TEST_F(DrainTest, CarriesATimeLiveAsSoonAsTheNextHasBegun) {
  open();
  write_time("1");
  EXPECT_FALSE(on_case("processor0/1"));
  write_time("2");
  EXPECT_TRUE(drive([&] { return on_case("processor0/1/p") && on_case("processor1/1/p"); }));
  EXPECT_FALSE(on_case("processor0/2"));
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_EQ(report.newest_complete, "2");
  EXPECT_EQ(content(case_ + "/processor1/2/p"), field("2", "values of 1"));
  EXPECT_EQ(report.amounts.undrained.files, 0u);
}

TEST_F(DrainTest, HoldsEverythingUntilTheEndWhenAskedTo) {
  settings_.live = false;
  open();
  write_time("1");
  write_time("2");
  write(tree() + "/log", "a line");
  for (int i = 0; i < 20; ++i) round();
  EXPECT_FALSE(on_case("processor0/1") || on_case("log"));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_TRUE(on_case("processor0/1/p") && on_case("processor1/2/p"));
  EXPECT_EQ(content(case_ + "/log"), "a line");
}

TEST_F(DrainTest, WritesOneFilePerFieldAndTimeWhenCollated) {
  settings_.collated = true;
  open();
  write_time("1");
  write_time("2");
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_TRUE(on_case("processors2/1/p") && on_case("processors2/2/p"));
  EXPECT_FALSE(on_case("processor0/1") || on_case("processor1/2"));
  EXPECT_EQ(report.groups, (std::vector<std::pair<int, int>>{{0, 1}}));
}

TEST_F(DrainTest, WhatTheProgramPurgedBeforeItWasDrainedNeverReachesTheCase) {
  settings_.hold_times = settings_.redirected = true;
  open();
  for (const std::string time : {"1", "2", "3"}) {
    write_time(time);
    if (time != "1") purge(std::to_string(std::stoi(time) - 1));
  }
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_FALSE(on_case("processor0/1") || on_case("processor0/2"));
  EXPECT_TRUE(on_case("processor0/3/p"));
  EXPECT_EQ(report.amounts.unseen_times, 0);
  EXPECT_EQ(report.amounts.written.files, 3 * 4);
}

TEST_F(DrainTest, WhatWasDeletedOrReplacedBeforeItWasDrainedIsCountedButNotWhatGotAnotherName) {
  settings_.live = false;
  open();
  for (const std::string name : {"scratch", "old", "new", "kept"}) write(tree() + "/" + name, name);
  round();
  std::filesystem::remove(tree() + "/scratch");
  std::filesystem::rename(tree() + "/new", tree() + "/old");
  std::filesystem::rename(tree() + "/kept", tree() + "/name");
  const DrainReport report = finish();
  EXPECT_EQ(report.amounts.never_shared, (Amount{2, 7 + 3}));
  EXPECT_EQ(content(case_ + "/old") + content(case_ + "/name"), "newkept");
}

TEST_F(DrainTest, WhatTheProgramReadsOfWhatItWroteIsCountedAndTheDrainReadsUnnoticed) {
  open();
  for (const std::string name : {"mesh", "unread", "copied"}) write(tree() + "/" + name, name);
  write_time("1");
  const std::int64_t now = time(nullptr);
  const timespec read[] = {{now + 60, 0}, {0, UTIME_OMIT}}, as_by_cp_p[] = {{now - 600, 0}, {now - 700, 0}};
  for (const std::string& path : {tree() + "/mesh", local(0) + "/1/p", tree() + "/setup"})
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), read, 0), 0) << path;
  ASSERT_EQ(utimensat(AT_FDCWD, (tree() + "/copied").c_str(), as_by_cp_p, 0), 0);
  ASSERT_TRUE(drive([&] { return on_case("mesh") && on_case("unread") && on_case("copied"); }));
  write_time("2");
  ASSERT_TRUE(drive([&] { return on_case("processor0/1/p"); }));
  EXPECT_EQ(finish().amounts.read_back, (Amount{2, 4 + field("1", "values of 0").size()})) << "setup is an input";
}

// A file counts as never shared only if it was counted as written, and never if it did cross.
TEST_F(DrainTest, OfWhatWasNotCountedAsWrittenNothingIsCountedAsNeverShared) {
  settings_.live = false;
  open();
  for (int i = 0; i < 5; ++i) {  // its closing is told under a name that is gone by then
    write(tree() + "/temporary", "a line");
    std::filesystem::rename(tree() + "/temporary", tree() + "/log");
  }
  write_unseen({"1", "2"});
  round();
  for (const std::string time : {"1", "2"}) std::filesystem::remove_all(local(0) + "/" + time);
  round();
  const DrainReport report = drain_->report();
  EXPECT_LE(report.amounts.never_shared.files, report.amounts.written.files);
  EXPECT_LE(report.amounts.never_shared.bytes, report.amounts.written.bytes);
  std::filesystem::remove(tree() + "/log");
  round();
  EXPECT_EQ(drain_->report().amounts.never_shared, report.amounts.never_shared) << "the log";
}

TEST_F(DrainTest, WhatARenameReplacesIsCountedWhereItWasWrittenUnderAnotherName) {
  settings_.live = false;
  open();
  for (const std::string line : {"one", "three", "seven"}) {
    write(tree() + "/temporary", line);
    round();
    std::filesystem::rename(tree() + "/temporary", tree() + "/log");
    round();
  }
  EXPECT_EQ(finish().amounts.never_shared, (Amount{2, 3 + 5}));
}

TEST_F(DrainTest, WhatTheCaseHasAnOlderVersionOfIsNotNeverShared) {
  open();
  write(tree() + "/log", "a line");
  ASSERT_TRUE(drive([&] { return drain_->report().amounts.shared.files == 1; }));
  std::ofstream(tree() + "/log", std::ios::app) << "another";
  look();
  std::filesystem::remove(tree() + "/log");
  look();
  EXPECT_EQ(finish().amounts.never_shared, Amount{});
}

TEST_F(DrainTest, WhatHasAnotherNameIsNotNeverShared) {
  settings_.live = false;
  open();
  write(tree() + "/one", "one");
  write_time("1");
  write_time("2");
  std::filesystem::create_hard_link(tree() + "/one", tree() + "/another");
  std::filesystem::create_hard_link(local(0) + "/1/p", tree() + "/saved");
  std::filesystem::remove(tree() + "/one");
  std::filesystem::remove(local(0) + "/1/p");
  round();
  const DrainReport report = finish();
  EXPECT_EQ(report.amounts.never_shared, Amount{});
  EXPECT_EQ(content(case_ + "/another"), "one");
  EXPECT_EQ(content(case_ + "/saved"), field("1", "values of 0"));
}

TEST_F(DrainTest, WhatGetsAnotherNameWhileItWaitsForItsTurnIsNotNeverShared) {
  settings_.mover.threads = 1;
  settings_.mover.bytes_per_second = 10'000'000;
  open();
  write(tree() + "/first", std::string(8'000'000, 'x'));
  for (int i = 0; i < 20; ++i) write(tree() + "/then" + std::to_string(i), "waits");
  ASSERT_TRUE(drive([&] { return drain_->progress().queued > 0; }));
  for (int i = 0; i < 20; ++i)
    std::filesystem::rename(tree() + "/then" + std::to_string(i), tree() + "/renamed" + std::to_string(i));
  EXPECT_TRUE(drive([&] { return drain_->progress().queued + drain_->progress().active == 0; }));
  const DrainReport report = finish();
  EXPECT_EQ(report.amounts.never_shared, Amount{});
  EXPECT_TRUE(on_case("renamed19"));
}

TEST_F(DrainTest, ATimeThatIsCarriedFromWhatWasKeptIsNotNeverShared) {
  settings_.redirected = true;
  settings_.live = false;
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time);
  purge("1");
  purge("2");
  purge("3");
  const std::uint64_t of_1 = 2 * (field("1", "values of 0").size() + field("1", "1").size());
  const DrainReport report = finish(false);
  ASSERT_EQ(times_on_case(), (std::set<std::string>{"2"}));
  EXPECT_EQ(report.amounts.never_shared.bytes % of_1, 0);
  EXPECT_LE(report.amounts.never_shared.files + report.amounts.shared.files, report.amounts.written.files);
}

// tar and touch give a file a time that it was not written at, a copy in Python the times of its original.
TEST_F(DrainTest, ATimeOfAccessThatIsLaterThanAGivenTimeIsNoReading) {
  open();
  for (const std::string name : {"unpacked", "original", "copied"}) write(tree() + "/" + name, name);
  struct stat original {};
  ASSERT_EQ(::stat((tree() + "/original").c_str(), &original), 0);
  const std::int64_t now = time(nullptr);
  const timespec unpacked[] = {{now + 60, 0}, {now - 600, 0}}, copied[] = {{now + 60, 0}, original.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, (tree() + "/unpacked").c_str(), unpacked, 0), 0);
  ASSERT_TRUE(drive([&] {  // until it is made later than the original was written
    std::filesystem::remove(tree() + "/copied");
    write(tree() + "/copied", "copied");
    struct stat copy {};
    return ::stat((tree() + "/copied").c_str(), &copy) == 0 && copy.st_mtim.tv_nsec != original.st_mtim.tv_nsec;
  }));
  ASSERT_EQ(utimensat(AT_FDCWD, (tree() + "/copied").c_str(), copied, 0), 0);
  EXPECT_EQ(finish().amounts.read_back, Amount{});
}

// A time that the Drain lets go is still known to have been seen.
TEST_F(DrainTest, ATimeThatIsPurgedLongAfterItWasSeenIsNotCountedAsUnseen) {
  settings_.hold_times = settings_.redirected = true;
  open();
  for (const std::string time : {"1", "2", "3", "4"}) write_time(time);
  ASSERT_TRUE(drive([&] { return drain_->report().newest_complete >= "3"; }));
  purge("1");
  purge("2");
  EXPECT_EQ(finish().amounts.unseen_times, 0);
}

TEST_F(DrainTest, AStepIsMeasuredByItselfThoughSeveralAreToldOfAtOnce) {
  open();
  write_unseen({"1", "2", "3", "4"});
  drain_->tick();
  round();
  const std::uint64_t of_one_rank = field("1", "values of 0").size() + field("1", "1").size();
  EXPECT_EQ(drain_->largest_step(), 2 * of_one_rank);
  finish();
}

TEST_F(DrainTest, TheLastCompleteTimeComesHomeAfterACrashThoughItWasPurged) {
  settings_.hold_times = settings_.redirected = true;
  open();
  write_time("1");
  write_time("2");
  write_time("3");
  purge("1");
  purge("2", 0);
  write_time("4", 0);  // rank 1 never gets there
  ASSERT_TRUE(drive([&] { return drain_->report().newest_complete == "2"; }));
  const DrainReport report = finish(false);
  EXPECT_EQ(report.newest_complete, "2");
  for (const int rank : {0, 1})
    EXPECT_EQ(content(case_ + "/processor" + std::to_string(rank) + "/2/p"),
              field("2", "values of " + std::to_string(rank)));
}

TEST_F(DrainTest, HardLinksBetweenOutputsAreHardLinksOnTheCase) {
  for (const bool live : {true, false}) {
    settings_.live = live;
    open();
    // Within a time, across times, across ranks, and outside times; one of them when its partner was carried long ago.
    write_time("1");
    write_time("2");
    for (int i = 0; i < 30; ++i) round();
    const auto link = [&](const std::string& from, const std::string& to) {
      std::filesystem::create_directories(std::filesystem::path(to).parent_path());
      std::filesystem::create_hard_link(from, to);
    };
    link(local(0) + "/1/p", local(0) + "/3/p_old");
    write(local(0) + "/3/p", "fresh");
    link(local(0) + "/3/p", local(0) + "/3/uniform/p");
    link(local(0) + "/3/p", local(1) + "/3/p_of_0");
    write(tree() + "/post/a", "one content");
    link(tree() + "/post/a", tree() + "/post/b");
    link(tree() + "/post/a", tree() + "/post/sub/c");
    for (int i = 0; i < 30; ++i) round();
    const DrainReport report = finish();
    EXPECT_EQ(report.trouble, std::nullopt);
    const auto inode = [&](const std::string& path) { return identity(case_ + "/" + path).inode; };
    EXPECT_EQ(inode("processor0/3/p_old"), inode("processor0/1/p"));
    EXPECT_EQ(inode("processor0/3/uniform/p"), inode("processor0/3/p"));
    EXPECT_EQ(inode("processor1/3/p_of_0"), inode("processor0/3/p"));
    EXPECT_EQ(inode("post/b"), inode("post/a"));
    EXPECT_EQ(inode("post/sub/c"), inode("post/a"));
    EXPECT_EQ(std::filesystem::hard_link_count(case_ + "/post/a"), 3u);
    EXPECT_EQ(std::filesystem::hard_link_count(case_ + "/processor0/3/p"), 3u);
    EXPECT_EQ(std::filesystem::hard_link_count(case_ + "/processor0/2/p"), 1u) << "kept aside is no name of its own";
    EXPECT_EQ(content(case_ + "/processor1/3/p_of_0"), "fresh");
    TearDown();
    SetUp();
  }
}

TEST_F(DrainTest, AFileThatGetsASecondNameWhileItIsOnItsWayHasBothOnTheCase) {
  settings_.mover.threads = 16;
  for (const auto& [of_a_time, at_the_end] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    hold_mover();
    open();
    if (of_a_time) {
      for (const std::string time : {"1", "1.5"}) write_time(time);
    } else {
      write(tree() + "/a", "one content");
    }
    EXPECT_TRUE(drive([&] { return mover_has_stopped(); }));
    if (of_a_time) {
      std::filesystem::create_directory(local(0) + "/2");
      std::filesystem::create_hard_link(local(0) + "/1/p", local(0) + "/2/p_old");
      for (const std::string time : {"2", "2.5"}) write_time(time);
    } else {
      std::filesystem::create_hard_link(tree() + "/a", tree() + "/b");
    }
    if (at_the_end) {
      EXPECT_TRUE(drain_->begin_finish(true));
    }
    for (int i = 0; i < 100; ++i) round();
    EXPECT_FALSE(on_case(of_a_time ? "processor0/1/p" : "a"));
    release_mover();
    if (!at_the_end) {
      EXPECT_TRUE(drain_->begin_finish(true));
    }
    await_end();
    EXPECT_EQ(drain_->report().trouble, std::nullopt);
    drain_.reset();
    const auto [first, second] =
        of_a_time ? std::pair("/processor0/1/p", "/processor0/2/p_old") : std::pair("/a", "/b");
    EXPECT_EQ(identity(case_ + first).inode, identity(case_ + second).inode) << first << at_the_end;
    TearDown();
    SetUp();
  }
}

TEST_F(DrainTest, ALinkedFileThatIsWrittenAgainOrRemovedIsFollowedUnderEachName) {
  open();
  write(tree() + "/a", "first");
  std::filesystem::create_hard_link(tree() + "/a", tree() + "/b");
  std::filesystem::create_hard_link(tree() + "/a", tree() + "/c");
  ASSERT_TRUE(drive([&] { return on_case("a") && on_case("b") && on_case("c"); }));
  write(tree() + "/a", "second version");
  std::filesystem::remove(tree() + "/c");
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt) << (report.messages.empty() ? "" : report.messages.front());
  EXPECT_EQ(content(case_ + "/b"), "second version");
  EXPECT_EQ(identity(case_ + "/a").inode, identity(case_ + "/b").inode);
  EXPECT_FALSE(on_case("c"));
}

TEST_F(DrainTest, ASafeTimeThatTheProgramPurgedGoesWhenANewerOneIsSafe) {
  for (const bool collated : {false, true}) {
    settings_.hold_times = settings_.redirected = true;
    settings_.collated = collated;
    settings_.safe_interval = 1ms;
    open();
    const auto directory = [&](const std::string& time) {
      return collated ? "processors2/" + time : "processor1/" + time;
    };
    write_time("1");
    for (const std::string time : {"2", "3"}) {
      write_time(time);
      write_time(time + ".5");  // the rank went on
      ASSERT_TRUE(drive([&] { return drain_->report().newest_safe == time; })) << time;
      EXPECT_TRUE(on_case(directory(time) + "/p"));
      if (time == "2") purge("2");
    }
    EXPECT_TRUE(drive([&] { return !on_case(directory("2")); })) << "2 was purged, and 3 is safe";
    write_time("4");
    write_time("4.5");
    ASSERT_TRUE(drive([&] { return drain_->report().newest_safe == "4"; }));
    for (int i = 0; i < 20; ++i) round();
    EXPECT_TRUE(on_case(directory("3") + "/p")) << "the program has not purged it";
    EXPECT_EQ(finish().trouble, std::nullopt);
    EXPECT_TRUE(on_case(directory("3") + "/p") && on_case(directory("4") + "/p"));
    TearDown();
    SetUp();
  }
}

TEST_F(DrainTest, WithSeveralNodesThatOfTheFirstRankBringsATimeWhenTheOthersHave) {
  settings_.all_ranks = 4;
  settings_.safe_interval = 600s;
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time);
  for (int i = 0; i < 20; ++i) round();
  EXPECT_FALSE(on_case("processor0/1") || on_case("processor1/1"));
  drain_->on_case_elsewhere("1");
  EXPECT_TRUE(drive([&] { return on_case("processor0/1/p") && on_case("processor1/1/p"); }));
  for (int i = 0; i < 20; ++i) round();
  EXPECT_FALSE(on_case("processor0/2"));
  // But not for ever, and each from the moment on at which it was complete.
  clock_.move(31s);
  EXPECT_TRUE(drive([&] { return on_case("processor0/2/p"); }));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_TRUE(on_case("processor0/3/p"));
}

TEST_F(DrainTest, ATimeThatWasSafeAndThenPurgedStaysAfterACrash) {
  settings_.hold_times = true;
  settings_.safe_interval = 1ms;
  open();
  write_time("1");
  write_time("2");
  ASSERT_TRUE(drive([&] { return on_case("processor0/1/p") && on_case("processor1/1/p"); }));
  purge("1");
  // The newest complete time may be 1 or 2 by now; both ranks have it on the case.
  const DrainReport report = finish(false);
  ASSERT_TRUE(report.newest_complete);
  EXPECT_TRUE(on_case("processor0/" + *report.newest_complete + "/p"));
  EXPECT_TRUE(on_case("processor1/" + *report.newest_complete + "/p"));
}

TEST_F(DrainTest, ADeletionReachesTheCaseAtTheEndOnly) {
  open();
  std::filesystem::remove(tree() + "/doomed");
  write(tree() + "/new", "new");
  ASSERT_TRUE(drive([&] { return on_case("new"); }));
  EXPECT_TRUE(on_case("doomed"));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_FALSE(on_case("doomed"));
}

TEST_F(DrainTest, ADeletedInputThatTheUserChangedIsKept) {
  open();
  std::filesystem::remove(tree() + "/doomed");
  rounds();
  write(case_ + "/doomed", "changed by the user");
  EXPECT_EQ(finish().trouble, Code::conflict);
  EXPECT_EQ(content(case_ + "/doomed"), "changed by the user");
}

TEST_F(DrainTest, AWipedPoolIsALossAndDeletesNothing) {
  open();
  write_time("1");
  std::filesystem::remove_all(home_ + "/tree");
  std::filesystem::remove_all(local(0));
  std::filesystem::remove(home_ + "/" + sentinel_name);
  rounds();
  EXPECT_EQ(finish().trouble, Code::lost);
  EXPECT_TRUE(on_case("setup") && on_case("doomed") && on_case("processor0/constant/points"));
}

TEST_F(DrainTest, BothVersionsOfAFileThatWasEditedTwiceAreKept) {
  open();
  write(tree() + "/setup", "of the program");
  write(case_ + "/setup", "of the user");
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, Code::conflict);
  EXPECT_EQ(content(case_ + "/setup"), "of the user");
  EXPECT_EQ(content(case_ + "/setup.forebay-run1"), "of the program");
}

TEST_F(DrainTest, WhatIsOnlyLocalIsNotHiddenBehindAConflict) {
  open();
  write(tree() + "/setup", "of the program");
  write(case_ + "/setup", "of the user");
  write(case_ + "/elsewhere/x", "");
  std::filesystem::create_directories(tree() + "/results");
  write(tree() + "/results/data", "only here");
  std::filesystem::create_symlink(case_ + "/elsewhere", case_ + "/results");
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, Code::undrained);
  EXPECT_EQ(report.amounts.undrained.files, 1u);
  EXPECT_FALSE(on_case("elsewhere/data")) << "written through a link";
}

TEST_F(DrainTest, EvictingADrainedFileLeavesALinkToTheCase) {
  open();
  write(tree() + "/log", std::string(100'000, 'x'));
  ASSERT_TRUE(drive([&] { return drain_->report().amounts.shared.files == 1; }));
  EXPECT_TRUE(drain_->can_make_room());
  EXPECT_GE(drain_->evict(1), 100'000u);
  EXPECT_TRUE(std::filesystem::is_symlink(tree() + "/log"));
  EXPECT_EQ(content(tree() + "/log").size(), 100'000u);
  EXPECT_TRUE(drain_->can_make_room()) << "its memory is still to come";
  EXPECT_TRUE(drive([&] { return !drain_->can_make_room(); }));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/log").size(), 100'000u);
  EXPECT_FALSE(std::filesystem::is_symlink(case_ + "/log"));
}

// A log that the case has, too. A program has found it by its name, but not opened it yet, when its room is needed.
class EvictedLogTest : public DrainTest {
 protected:
  void evict_found_log() {
    open();
    write(tree() + "/log", std::string(100'000, 'x'));
    ASSERT_TRUE(drive([&] { return drain_->report().amounts.shared.files == 1; }));
    program_.emplace(tree() + "/log");
    EXPECT_GE(drain_->evict(1), 100'000u);
  }

  std::optional<LateWriter> program_;
};

TEST_F(EvictedLogTest, AFileThatIsJustBeingOpenedWhenItIsEvictedGetsItsNameBack) {
  evict_found_log();
  program_->open_and_write("late");
  EXPECT_TRUE(drive([&] { return program_->has_written(); }));
  EXPECT_FALSE(std::filesystem::is_symlink(tree() + "/log"));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/log"), std::string(100'000, 'x') + "late");
}

TEST_F(EvictedLogTest, WhatIsWrittenIntoAFileThatADeadRunWasEvictingArrives) {
  evict_found_log();
  drain_.reset();  // as when it is killed: its leases go with it
  program_->open_and_write("late");
  while (!program_->has_written()) std::this_thread::yield();
  resume();
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/log"), std::string(100'000, 'x') + "late");
}

TEST_F(DrainTest, ManyFilesAreEvictedByAndBy) {
  constexpr int files = 300;
  open();
  for (int i = 0; i < files; ++i) write(tree() + "/log" + std::to_string(i), "x");
  ASSERT_TRUE(drive([&] { return drain_->report().amounts.shared.files == files; }));
  const auto evicted = [&] {
    int count = 0;
    for (int i = 0; i < files; ++i) count += std::filesystem::is_symlink(tree() + "/log" + std::to_string(i)) ? 1 : 0;
    return count;
  };
  EXPECT_GT(drain_->evict(files * 4096), 0u);
  EXPECT_EQ(evicted(), 256) << "each has a descriptor";
  ASSERT_TRUE(drive([&] { return drain_->evict(files * 4096) == 0; }));
  EXPECT_EQ(evicted(), files);
  EXPECT_EQ(finish().trouble, std::nullopt);
}

TEST_F(EvictedLogTest, AFileThatIsRemovedWhileItIsEvictedIsRemoved) {
  evict_found_log();
  std::filesystem::remove(tree() + "/log");
  program_->open_and_write("into a file without a name, as directly");
  EXPECT_TRUE(drive([&] { return program_->has_written(); }));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_FALSE(on_case("log"));
}

TEST_F(DrainTest, RoomIsMadeInThePoolThatNeedsIt) {
  two_pools_ = true;
  open();
  for (const int rank : {0, 1}) write_results(rank, 5);
  EXPECT_GT(drain_->evict(8192 * 100, pool_of(1)), 0u);
  EXPECT_EQ(evicted_results(1, 5), 5);
  EXPECT_EQ(evicted_results(0, 5), 0);
  EXPECT_TRUE(drive([&] { return !drain_->can_make_room(pool_of(1)); }));
  EXPECT_TRUE(drain_->can_make_room(pool_of(0)));
  EXPECT_EQ(finish().trouble, std::nullopt);
}

TEST_F(DrainTest, APoolWithoutAnythingToEvictIsLookedAtAgainWhenSomethingWasCarried) {
  open();
  EXPECT_EQ(drain_->evict(8192 * 100), 0u);
  EXPECT_FALSE(drain_->can_make_room());
  write_results(0, 5);
  EXPECT_TRUE(drain_->can_make_room());
  EXPECT_GT(drain_->evict(8192 * 100), 0u);
  EXPECT_EQ(evicted_results(0, 5), 5);
}

TEST_F(DrainTest, HeldTimesAreCarriedWhenTheirRoomIsNeeded) {
  settings_.live = false;
  open();
  write_time("1");
  write_time("2");
  (void)drain_->evict(1'000'000);
  EXPECT_TRUE(drive([&] { return on_case("processor0/1/p") && on_case("processor1/1/p"); }));
  EXPECT_EQ(finish().trouble, std::nullopt);
}

TEST_F(DrainTest, APoolThatWasFullSpoilsTheOpenTimeAndIsRememberedByAResumedRun) {
  open();
  write_time("1");
  drain_->pool_is_full(true);
  write_time("2");
  drain_.reset();
  resume();
  const DrainReport report = finish(false);
  EXPECT_EQ(report.trouble, Code::pool_full);
  EXPECT_NE(report.newest_complete, "1");
}

}  // namespace
}  // namespace forebay::drain
