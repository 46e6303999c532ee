// Resumes a run that was killed, from what it left.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <tuple>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

enum class End { killed, clean };

// Resuming with every leading part of the journal (of long journals every third; after a clean end those that tell of
// it): whatever a crash left of it, all that the program wrote comes home, in one layout, and nothing of the user's
// goes.
class ResumeTest : public DrainTest, public testing::WithParamInterface<std::tuple<bool, bool, End>> {
 protected:
  // Thousands of fsyncs: memory is enough for them.
  std::string default_root() const override { return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; }
  bool collated() const { return std::get<0>(GetParam()); }
  bool purges() const { return std::get<1>(GetParam()); }
  bool clean() const { return std::get<2>(GetParam()) == End::clean; }

  std::string group(const std::string& time) const { return "processors2/" + time; }
  // Whole over both ranks, in one of the layouts and not in both.
  void expect_whole(const std::string& time) {
    const bool grouped = on_case(group(time));
    EXPECT_TRUE(collated() || !grouped);
    for (const int rank : {0, 1}) {
      const std::string of_rank = "processor" + std::to_string(rank) + "/" + time;
      const std::string values = "values of " + std::to_string(rank);
      if (grouped) {
        EXPECT_NE(content(case_ + "/" + group(time) + "/p").find(values), std::string::npos) << time;
        EXPECT_FALSE(on_case(of_rank)) << "it would win over the group";
      } else {
        EXPECT_EQ(content(case_ + "/" + of_rank + "/p"), field(time, values)) << time;
      }
    }
  }

  void run() {
    settings_.collated = collated();
    settings_.hold_times = settings_.redirected = purges();
    settings_.safe_interval = std::chrono::milliseconds(1);
    open();
    write_time("1");
    write_time("2");
    write(tree() + "/log", "first");
    std::filesystem::remove(tree() + "/doomed");
    ASSERT_TRUE(drive([&] { return is_safe("1") && on_case("log"); }));
    if (purges()) {
      purge("1");
      write_time("3");
      purge("2");
    }
    if (!clean()) write(tree() + "/setup", "of the program");
    rounds();
    if (clean()) {
      EXPECT_EQ(finish().trouble, std::nullopt);
    }
    drain_.reset();
  }
  std::set<std::string> left() const { return purges() ? std::set<std::string>{"3"} : std::set<std::string>{"1", "2"}; }
};

std::string name_of_resume(const testing::TestParamInfo<std::tuple<bool, bool, End>>& tested) {
  const auto& [collated, purges, end] = tested.param;
  return std::string(collated ? "Collated" : "Verbatim") + (purges ? "Purging" : "") +
         (end == End::clean ? "AfterACleanEnd" : "");
}
INSTANTIATE_TEST_SUITE_P(Every, ResumeTest,
                         testing::Combine(testing::Bool(), testing::Bool(), testing::Values(End::killed, End::clean)),
                         name_of_resume);

TEST_P(ResumeTest, FromAJournalThatEndsAfterAnyRecord) {
  std::size_t kept = 0;
  for (bool all = false; !all && !HasFailure(); kept += purges() ? 3 : 1) {
    run();
    const std::string whole = content(home_ + "/journal");
    std::size_t end = 0;
    if (clean() && kept == 0) {
      const std::size_t ended = whole.find(" ended-cleanly\n");
      ASSERT_NE(ended, std::string::npos);
      kept = static_cast<std::size_t>(std::count(whole.begin(), whole.begin() + static_cast<long>(ended), '\n')) + 1;
    }
    for (std::size_t lines = 0; lines < kept && end < whole.size(); ++lines) end = whole.find('\n', end) + 1;
    all = end == whole.size();
    std::filesystem::resize_file(home_ + "/journal", end);
    resume();
    const DrainReport report = finish(false);
    SCOPED_TRACE(testing::Message() << "after " << kept << " records");
    EXPECT_EQ(report.amounts.undrained.files, 0u);
    EXPECT_TRUE(!report.trouble || (!clean() && report.trouble == Code::conflict));
    for (const std::string& time : left()) expect_whole(time);
    for (const std::string& time : times_on_case()) expect_whole(time);
    EXPECT_TRUE(clean() || !report.newest_complete || times_on_case().contains(*report.newest_complete));
    EXPECT_EQ(content(case_ + "/log"), "first");
    if (clean()) {
      EXPECT_EQ(times_on_case(), left()) << "what a direct run leaves";
    } else {
      const std::string beside = content(case_ + "/setup.forebay-run1");
      EXPECT_TRUE(content(case_ + "/setup") == "of the program" || beside == "of the program");
    }
    EXPECT_TRUE(!on_case("doomed") || content(case_ + "/doomed") == "an input");
    EXPECT_EQ(temporaries(), std::set<std::string>());
    EXPECT_TRUE(!(all || clean()) || !on_case("doomed")) << "the deletion is known";
    TearDown();
    SetUp();
  }
}

// The run was killed just after two versions of a file had changed places on the case.
TEST_F(DrainTest, AVersionThatHadChangedPlacesGoesUnlessItIsSomebodysOwn) {
  const std::string temporary = ".fb-0123456789abcdef";
  for (const bool edited : {false, true}) {
    open();
    write(tree() + "/log", "first");
    ASSERT_TRUE(drive([&] { return on_case("log"); }));
    rounds();
    drain_.reset();
    write(tree() + "/log", "second");
    if (edited) write(case_ + "/log", "somebody's");
    std::filesystem::rename(case_ + "/log", case_ + "/" + temporary);
    write(case_ + "/log", "second");
    struct stat made {};
    ASSERT_EQ(::stat((case_ + "/log").c_str(), &made), 0);
    {
      auto journal = Journal::open(home_ + "/journal", false, UINT64_MAX);
      ASSERT_TRUE(journal);
      ASSERT_TRUE(journal->append(placing_record("log", identity_of(made))));
      ASSERT_TRUE(journal->append(replacing_record(temporary, "log", made.st_ino)));
    }
    resume();
    const DrainReport report = finish(false);
    EXPECT_EQ(report.trouble, edited ? std::optional(Code::conflict) : std::nullopt);
    EXPECT_EQ(on_case(temporary), edited);
    EXPECT_EQ(content(case_ + "/log"), "second");
    TearDown();
    SetUp();
  }
}

// The run was killed just after a time had got its name on the case, and before the journal said so. A late file of
// that time came meanwhile.
TEST_F(DrainTest, ATimeThatWasPlacedByAKilledRunIsItsOwn) {
  for (const bool edited : {false, true}) {
    settings_.redirected = true;
    open();
    for (const std::string time : {"1", "2", "3"}) write_time(time);
    const auto placed_in = [](const std::string& journal) { return journal.find("drained processor0/1/"); };
    ASSERT_TRUE(drive([&] { return placed_in(content(home_ + "/journal")) != std::string::npos; }));
    drain_.reset();
    const std::string journal = content(home_ + "/journal");
    const std::size_t placed = placed_in(journal);
    ASSERT_LT(journal.find("placing processor0/1/"), placed);
    std::filesystem::resize_file(home_ + "/journal", journal.rfind('\n', placed) + 1);
    write(local(0) + "/1/late", "late");
    if (edited) write(case_ + "/processor0/1/p", "somebody's");
    resume();
    EXPECT_EQ(finish(false).trouble, edited ? std::optional(Code::conflict) : std::nullopt);
    EXPECT_EQ(content(case_ + "/processor0/1/p") == "somebody's", edited);
    if (!edited) {
      EXPECT_EQ(content(case_ + "/processor0/1/late"), "late");
    }
    TearDown();
    SetUp();
  }
}

// Killed as soon as the program has ended well: what it purged stays purged, the last complete time too, though copies
// of all these are held.
TEST_F(DrainTest, AResumeAfterACleanEndLeavesWhatTheProgramLeft) {
  for (const bool collated : {false, true}) {
    for (const int all_ranks : {2, 4}) {
      settings_.hold_times = settings_.redirected = true;
      settings_.safe_interval = std::chrono::milliseconds(1);
      settings_.collated = collated;
      settings_.all_ranks = all_ranks;
      SCOPED_TRACE(testing::Message() << (collated ? "collated, " : "verbatim, ") << all_ranks << " ranks in all");
      open();
      write_time("1");
      write_time("2");
      ASSERT_TRUE(drive([&] { return is_safe("1"); }));
      purge("1");
      write_time("3");
      purge("2");
      write_time("4");
      write_time("5");
      purge("5");
      ASSERT_TRUE(drive([&] { return drain_->progress().queued + drain_->progress().active == 0; }));
      look();  // what was just placed, and was purged meanwhile, would stay (docs/gaps.md)
      for (const int rank : {0, 1}) drain_->rank_ended(rank, true);
      ASSERT_TRUE(drain_->begin_finish(true));
      drain_.reset();
      resume();
      const DrainReport report = finish(false);
      EXPECT_EQ(report.trouble, std::nullopt);
      EXPECT_EQ(times_on_case(), (std::set<std::string>{"3", "4"}));
      TearDown();
      SetUp();
    }
  }
}

TEST_F(DrainTest, ARunOfAnOlderForebayIsLeftToThat) {
  open();
  write_time("1");
  drain_.reset();
  write(home_ + "/hold", "as contract 1 has it");
  const auto resumed = Drain::resume(request(), roots(), {0, 1}, clock_);
  ASSERT_FALSE(resumed);
  EXPECT_NE(resumed.error().text().find("resume with the version that began the run"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(local(0) + "/1/p"));
}

TEST_F(DrainTest, AResumeAfterAKillStillHoldsTheLastCompleteTimes) {
  settings_.hold_times = settings_.redirected = true;
  settings_.all_ranks = 4;
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time);
  purge("1");
  purge("2");
  drain_.reset();
  resume();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_TRUE(times_on_case().contains("2")) << "the other nodes may not have 3";
}

}  // namespace
}  // namespace forebay::drain
