// The content of the case while a program replaces the files of its checkpoint, and when it is killed meanwhile.
#include <gtest/gtest.h>

#include "run/drain/tests/whole_case.h"

namespace forebay::drain {
namespace {

using namespace std::chrono_literals;

class CheckpointsTest : public WholeCaseTest {
 protected:
  // Many fsyncs: memory is enough for them.
  std::string default_root() const override { return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; }
  void SetUp() override {
    WholeCaseTest::SetUp();
    settings_.checkpoints = {"checkpoint"};
    settings_.settle = 20ms;
  }
  void replace(const std::string& file, const std::string& text) {
    std::filesystem::remove(tree_ + "/checkpoint/" + file);
    write(tree_ + "/checkpoint/" + file, text);
  }
  void write_all(const std::string& text) {
    for (const std::string file : {"main", "auxiliary"}) replace(file, text);
  }
  std::string on_case() const { return content(case_ + "/checkpoint/main") + content(case_ + "/checkpoint/auxiliary"); }
  // Writes it, and sees it on the case.
  void carry(const std::string& text) {
    write_all(text);
    ASSERT_TRUE(drive([&] { return on_case() == text + text; })) << on_case();
  }
  void look() {
    int rounds = 0;
    drive([&] { return ++rounds > 20; });
  }
};

TEST_F(CheckpointsTest, AWholeVersionTakesThePlaceOfTheLastOneWhileTheProgramRuns) {
  start();
  carry("1");
  carry("2");
  // Between any two looks at the case both files are of one version.
  write_all("3");
  ASSERT_TRUE(drive([&] {
    EXPECT_TRUE(on_case() == "22" || on_case() == "33") << on_case();
    return on_case() == "33";
  }));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(names(), (std::set<std::string>{"checkpoint", "checkpoint/auxiliary", "checkpoint/main"}));
}

TEST_F(CheckpointsTest, AHalfWrittenVersionNeverReplacesAWholeOne) {
  start();
  carry("1");
  std::filesystem::remove(tree_ + "/checkpoint/main");
  std::ofstream main(tree_ + "/checkpoint/main");
  main << "2, and more to come" << std::flush;
  look();
  EXPECT_EQ(on_case(), "11");
  at_work_ = false;
  main.close();  // by the kill
  look();
  const DrainReport report = finish(false);
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_EQ(report.amounts.undrained.files, 0u);
  ASSERT_EQ(report.notices.size(), 1u) << "nothing is asked for";
  EXPECT_NE(report.notices.front().find("last one that is known to be whole"), std::string::npos);
  EXPECT_EQ(on_case(), "11");
}

// A direct run leaves what the program has not removed.
TEST_F(CheckpointsTest, WhatTheProgramRemovedBeforeItWasCarriedIsNotOnTheCaseInTheEnd) {
  settings_.live = false;
  settings_.safe_interval = 100ms;
  start();
  const std::string directory = tree_ + "/checkpoint/";
  for (const std::string pair : {"1", "2", "3"}) {
    write(directory + pair + ".a", pair);
    write(directory + "sub" + pair + "/b", pair);
    look();
    std::ofstream late(directory + "late" + pair);  // no next version while it is open
    late << pair << std::flush;
    std::filesystem::remove_all(directory + "sub" + pair);
    std::filesystem::remove(directory + pair + ".a");
    ASSERT_TRUE(drive([&] { return content(case_ + "/checkpoint/" + pair + ".a") == pair; }));
    EXPECT_EQ(content(case_ + "/checkpoint/sub" + pair + "/b"), pair);
  }
  write(directory + "4.a", "4");
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt) << report.messages.front();
  EXPECT_EQ(names(), (std::set<std::string>{"checkpoint", "checkpoint/4.a", "checkpoint/late1", "checkpoint/late2",
                                            "checkpoint/late3"}));
}

TEST_F(CheckpointsTest, ADirectoryThatIsRemovedAndMadeAnewNeedsNobodysHelp) {
  start();
  const std::string directory = tree_ + "/checkpoint";
  for (const std::string step : {"1", "2", "3"}) {
    std::filesystem::remove_all(directory);
    write(directory + "/main", step);
    write(directory + "/of" + step + "/auxiliary", step);
    write(directory + "/sub/deep/file", step);
    ASSERT_TRUE(drive([&] { return content(case_ + "/checkpoint/of" + step + "/auxiliary") == step; }));
    EXPECT_EQ(content(case_ + "/checkpoint/sub/deep/file"), step);
  }
  std::filesystem::remove_all(directory);
  look();
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt) << report.messages.front();
  EXPECT_EQ(names(), std::set<std::string>());
}

// The old content is nowhere else.
TEST_F(CheckpointsTest, AFileThatIsWrittenAgainInPlaceIsNeverMixedWithAnOlderOne) {
  settings_.live = false;
  start();
  write_all("1");
  look();
  write(tree_ + "/checkpoint/main", "2");
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_EQ(on_case(), "21") << "as a direct run leaves it";
}

TEST_F(CheckpointsTest, AVersionOfTheCaseStaysWhereTheNextOneWasWrittenToInPlace) {
  settings_.live = false;
  settings_.safe_interval = 100ms;
  start();
  carry("1");
  for (const std::string file : {"main", "auxiliary"}) write(tree_ + "/checkpoint/" + file, "2");
  look();  // it is kept, and waits for its turn
  write(tree_ + "/checkpoint/main", "3");
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_EQ(on_case(), "11");
}

TEST_F(CheckpointsTest, WhatAFullPoolMayHaveCutIsNoVersion) {
  start();
  carry("1");
  replace("main", "2, cut");
  drain_->pool_is_full(true);
  drain_->pool_is_full(false);
  replace("auxiliary", "2");
  look();
  EXPECT_EQ(on_case(), "11");
  carry("3");
  EXPECT_EQ(finish().trouble, Code::pool_full);
  EXPECT_EQ(on_case(), "33");
}

TEST_F(CheckpointsTest, AWholeVersionThatWasNotCarriedComesHomeAfterAKill) {
  settings_.live = false;
  start();
  write_all("1");
  look();
  std::filesystem::remove(tree_ + "/checkpoint/main");  // the last thing that the program does
  look();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_EQ(on_case(), "11");
}

TEST_F(CheckpointsTest, WhatTheRunBeforeLeftStaysUntilThereIsAWholeVersion) {
  for (const std::string file : {"main", "auxiliary"}) write(case_ + "/checkpoint/" + file, "0");
  start();
  std::filesystem::remove(tree_ + "/checkpoint/main");
  look();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_EQ(on_case(), "00");
}

TEST_F(CheckpointsTest, WithoutAnyWholeVersionTheCaseGetsWhatADirectRunLeaves) {
  at_work_ = false;
  start();
  replace("main", "cut by the kill");
  look();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/checkpoint/main"), "cut by the kill");
}

TEST_F(CheckpointsTest, AfterAGoodEndTheCaseHasWhatTheProgramLeft) {
  write(case_ + "/checkpoint/mesh", "an input");
  write(case_ + "/checkpoint/old", "goes");
  start();
  carry("1");
  replace("main", "2");
  std::filesystem::remove(tree_ + "/checkpoint/auxiliary");
  std::filesystem::remove(tree_ + "/checkpoint/old");
  write(tree_ + "/checkpoint/sub/extra", "3");
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/checkpoint/main"), "2");
  EXPECT_EQ(content(case_ + "/checkpoint/mesh"), "an input");
  EXPECT_EQ(names(), (std::set<std::string>{"checkpoint", "checkpoint/main", "checkpoint/mesh", "checkpoint/sub",
                                            "checkpoint/sub/extra"}));
}

// Code_Saturne links its mesh in this way.
TEST_F(CheckpointsTest, AnInputThatTheProgramLinksThereIsALinkToTheInputOnTheCase) {
  write(case_ + "/mesh_input", "an input");
  start();
  write_all("1");
  std::filesystem::create_hard_link(tree_ + "/mesh_input", tree_ + "/checkpoint/mesh_input");
  for (const std::string text : {"1", "2"}) {
    if (text != "1") write_all(text);
    ASSERT_TRUE(drive([&] { return on_case() == text + text; })) << on_case();
    EXPECT_EQ(identity(case_ + "/checkpoint/mesh_input").inode, identity(case_ + "/mesh_input").inode);
  }
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/checkpoint/mesh_input"), "an input");
  EXPECT_EQ(std::filesystem::hard_link_count(case_ + "/mesh_input"), 2u);
}

TEST_F(CheckpointsTest, AFileOfTheUsersInTheDirectoryIsNeverLost) {
  start();
  carry("1");
  write(case_ + "/checkpoint/notes", "of the user");
  write_all("2");
  EXPECT_EQ(finish().trouble, Code::conflict);
  EXPECT_EQ(on_case(), "11");
  EXPECT_EQ(content(case_ + "/checkpoint/notes"), "of the user");
  EXPECT_EQ(content(case_ + "/checkpoint.forebay-run1/main"), "2");
}

TEST_F(CheckpointsTest, WhatGaveUpItsRoomInThePoolIsPartOfTheNextVersion) {
  start();
  carry("1");
  look();
  EXPECT_GT(drain_->evict(std::uint64_t{1} << 20), 0u);
  ASSERT_TRUE(std::filesystem::is_symlink(tree_ + "/checkpoint/auxiliary"));
  replace("main", "2");
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(on_case(), "21");
}

// After resuming, the case holds one version and never a mixture, whatever the journal of a killed agent still has.
TEST_F(CheckpointsTest, ResumingWithAnyLeadingPartOfTheJournalLeavesAWholeVersion) {
  settings_.settle = 10ms;
  for (std::size_t kept = 1;; ++kept) {
    start();
    carry("1");
    carry("2");
    replace("main", "cut by the kill");
    drain_.reset();
    const std::string whole = content(pool_ + "/journal");
    std::size_t end = 0;
    for (std::size_t lines = 0; lines < kept && end < whole.size(); ++lines) end = whole.find('\n', end) + 1;
    std::filesystem::resize_file(pool_ + "/journal", end);
    auto resumed = Drain::resume(request(), {{tree_, "", pool_}}, {-1}, clock_);
    ASSERT_TRUE(resumed) << resumed.error().text();
    drain_ = std::move(*resumed);
    const DrainReport report = finish(false);
    SCOPED_TRACE(testing::Message() << "after " << kept << " records");
    EXPECT_EQ(report.amounts.undrained.files, 0u);
    EXPECT_EQ(on_case(), "22");
    EXPECT_EQ(temporaries(), std::set<std::string>());
    drain_.reset();
    TearDown();
    SetUp();
    settings_.settle = 10ms;
    if (end == whole.size() || HasFailure()) break;
  }
}

}  // namespace
}  // namespace forebay::drain
