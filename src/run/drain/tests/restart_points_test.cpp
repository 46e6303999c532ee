// The times of a run as its page, its tree and what it has purged tell of them: what is restartable, what is freed,
// what is carried.
#include "run/drain/restart_points.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

using namespace std::chrono_literals;

class RestartPointsTest : public DrainTest {
 protected:
  void SetUp() override {
    DrainTest::SetUp();
    settings_.hold_times = settings_.redirected = true;
    settings_.safe_interval = 1h;
  }
  std::optional<std::string> newest() const { return drain_->report().newest_complete; }
  // "0.1,17,..." -> "0.1.17"
  static std::string name_of(std::string kept) {
    kept.resize(kept.find(',', kept.find(',') + 1));
    return kept.replace(kept.find(','), 1, ".");
  }
  // Purged, and not freed.
  std::set<std::string> kept(int rank) const {
    std::set<std::string> times;
    for (const auto& entry : std::filesystem::directory_iterator(kept_directory(rank, pool_of(rank), {})))
      times.insert(name_of(entry.path().filename().string()));
    return times;
  }
  void write_part(const std::string& time, int rank, const std::string& name) {
    if (!std::filesystem::exists(local(rank) + "/" + time)) begin_line(time, rank);
    write(local(rank) + "/" + time + "/" + name, field(time, name));
  }
};

TEST_F(RestartPointsTest, ATimeIsCompleteWhenItsRanksHaveBegunAnother) {
  open();
  write_time("1");
  EXPECT_EQ(newest(), std::nullopt);
  write_time("2", 0);
  rounds();
  EXPECT_EQ(newest(), std::nullopt) << "rank 1 may still write";
  write_time("2", 1);
  rounds();
  EXPECT_EQ(newest(), "1");
  finish();
}

TEST_F(RestartPointsTest, WhatANewerStateSupersedesIsFreed) {
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time);
  purge("1");
  EXPECT_EQ(kept(0), std::set<std::string>());
  purge("2");
  EXPECT_EQ(kept(0), std::set<std::string>{"2.2"}) << "the newest that all have left";
  write_time("4");
  EXPECT_EQ(kept(0), std::set<std::string>());
  EXPECT_EQ(newest(), "3");
  EXPECT_EQ(finish().amounts.never_shared.files, 2u * 4);
}

TEST_F(RestartPointsTest, FourTimesAreKeptThatNoNewerStateHasTheNamesOf) {
  open();
  write_time("0.5");
  for (int time = 1; time < 9; ++time)
    for (const int rank : {0, 1}) write_part(std::to_string(time), rank, "probe" + std::to_string(time));
  write_time("9");
  write_time("10");
  rounds();
  for (int time = 1; time < 9; ++time) purge(std::to_string(time));
  EXPECT_EQ(kept(0).size(), 4u);
  finish();
}

TEST_F(RestartPointsTest, WhatIsOpenOrCutOrTornIsNoState) {
  open();
  write_time("1");
  write_time("2");
  std::ofstream still_open(local(0) + "/2/p", std::ios::app);
  write_time("3");
  EXPECT_EQ(newest(), "1");
  still_open.close();
  rounds();
  EXPECT_EQ(newest(), "2");
  write(local(1) + "/3/p", "FoamFile\n{\n object p;\n}\n 1 2 3");
  write_time("4");
  EXPECT_EQ(newest(), "2");
  page_of(0).line(lines_.at({0, "4"})).flags |= contract::line_is_cut;
  write_time("5");
  EXPECT_EQ(newest(), "2");
  write_time("6");
  EXPECT_EQ(newest(), "5");
  finish();
}

TEST_F(RestartPointsTest, AWritingThreadThatHasStoppedHoldsNothingBack) {
  open();
  for (const int rank : {0, 1}) page_of(rank).place = 1;
  for (const std::string time : {"1", "2", "3", "4"}) write_time(time);
  EXPECT_EQ(newest(), std::nullopt) << "it may still write into the first";
  write_time("5");
  EXPECT_EQ(newest(), "4");
  finish();
}

TEST_F(RestartPointsTest, ATimeThatIsBegunAgainIsAnother) {
  open();
  write_time("1");
  write_time("2");
  EXPECT_EQ(newest(), "1");
  for (const int rank : {0, 1}) {
    begin_line("1", rank);
    write(local(rank) + "/1/p", field("1", "again"));
  }
  rounds();
  EXPECT_NE(newest(), "1") << "it is being written";
  finish();
}

TEST_F(RestartPointsTest, AStateIsCarriedWhenItsTimeHasComeThoughItIsPurgedMeanwhile) {
  settings_.safe_interval = 1ms;
  open();
  for (const std::string time : {"1", "2", "3"}) {
    write_time(time);
    if (time != "1") purge(std::to_string(std::stoi(time) - 1));
  }
  ASSERT_TRUE(drive([&] { return drain_->report().newest_safe == "2"; }));
  for (const int rank : {0, 1})
    EXPECT_EQ(content(case_ + "/processor" + std::to_string(rank) + "/2/p"),
              field("2", "values of " + std::to_string(rank)));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(times_on_case(), std::set<std::string>{"3"}) << "the program has purged the others";
}

TEST_F(RestartPointsTest, TheMeshThatTheNewestStateUsesStaysAndComesHome) {
  open();
  for (const int rank : {0, 1}) {
    write_part("1", rank, "polyMesh/faces");
    page_of(rank).line(1).mesh = page_of(rank).mesh = 1;
  }
  for (const std::string time : {"2", "3", "4"}) {
    write_time(time);
    for (const int rank : {0, 1}) page_of(rank).line(lines_.at({rank, time})).mesh = 1;
  }
  for (const std::string time : {"1", "2", "3"}) purge(time);
  EXPECT_EQ(newest(), "3");
  EXPECT_TRUE(kept(0).contains("1.1"));
  write_time("5", 0);
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_TRUE(on_case("processor1/1/polyMesh/faces") && on_case("processor1/3/p"));
}

TEST_F(RestartPointsTest, WhatHasNoFilesIsFreed) {
  open();
  write_time("1");
  std::filesystem::create_directories(kept_directory(0, pool_of(0), {}) + "/7,1,0,0,0,0");
  rounds();
  EXPECT_EQ(kept(0), std::set<std::string>());
  // But not what was begun, and purged, while the look went on.
  std::filesystem::create_directories(kept_directory(0, pool_of(0), {}) + "/7,4711,0,0,0,0");
  rounds();
  EXPECT_EQ(kept(0), std::set<std::string>{"7.4711"});
  finish();
}

TEST_F(RestartPointsTest, ARunThatWasKilledIsResumedFromTheNewestStateThoughAllOfItWasPurged) {
  open();
  for (const std::string time : {"1", "2", "3", "4"}) write_time(time);
  for (const std::string time : {"1", "2", "3"}) purge(time);
  drain_.reset();
  resume();
  const DrainReport report = finish(false);
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_EQ(report.newest_complete, "3");
  EXPECT_EQ(times_on_case(), (std::set<std::string>{"3", "4"}));
}

TEST_F(RestartPointsTest, AfterACrashAnOlderStateWithAFileOfItsOwnComesHomeToo) {
  open();
  for (const int rank : {0, 1}) {
    write_time("1", rank);
    write_part("1", rank, "UMean");
  }
  for (const std::string time : {"2", "3", "4"}) write_time(time);
  for (const std::string time : {"1", "2", "3"}) purge(time);
  drain_.reset();
  resume();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_EQ(times_on_case(), (std::set<std::string>{"1", "3", "4"}));
}

// The directory of held times cannot be made: a file has its name.
TEST_F(RestartPointsTest, AStateThatCannotBeTakenAfterACrashIsToldAndStays) {
  open();
  for (const std::string time : {"1", "2", "3", "4"}) write_time(time);
  for (const std::string time : {"1", "2", "3"}) purge(time);
  drain_.reset();
  resume();
  write(held_in(home_), "in the way");
  const DrainReport report = finish(false);
  EXPECT_EQ(report.trouble, Code::undrained);
  EXPECT_EQ(report.amounts.undrained.files, 2u * 2);
  EXPECT_TRUE(kept(0).contains("3.3"));
  std::filesystem::remove(held_in(home_));
  resume();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_EQ(times_on_case(), (std::set<std::string>{"3", "4"}));
}

TEST_F(RestartPointsTest, WhileOneStateIsOnItsWayNoOtherIsTaken) {
  settings_.safe_interval = 1ms;
  settings_.mover.bytes_per_second = 1;
  open();
  const auto held = [&] {
    std::set<std::string> lines;
    if (!std::filesystem::exists(held_in(home_) + "/processor0")) return lines;
    for (const auto& each : std::filesystem::directory_iterator(held_in(home_) + "/processor0"))
      lines.insert(each.path().filename().string());
    return lines;
  };
  for (const std::string time : {"1", "2", "3", "4", "5"}) write_time(time);
  for (const std::string time : {"1", "2", "3", "4"}) purge(time);
  EXPECT_EQ(held(), std::set<std::string>{"1.1"});
  drain_.reset();
}

// The limit leaves the process no descriptor.
TEST_F(RestartPointsTest, WhatCannotBeListedIsNotFreed) {
  open();
  for (const std::string time : {"1", "2", "3", "4"}) write_time(time);
  for (const int rank : {0, 1}) DrainTest::purge("1", rank);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  drain_->tick();
  drain_->free_purged();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(kept(0), std::set<std::string>{"1.1"});
  rounds();
  EXPECT_EQ(kept(0), std::set<std::string>());
  finish();
}

TEST_F(RestartPointsTest, WhoStandsInForAnAgentThatWasKilledFreesAndCarriesNothing) {
  settings_.safe_interval = 1ms;
  open();
  for (const std::string time : {"1", "2", "3", "4"}) write_time(time);
  drain_.reset();
  const std::set<std::string> before = times_on_case();
  for (const std::string time : {"1", "2"})
    for (const int rank : {0, 1}) DrainTest::purge(time, rank);
  auto stands_in = Drain::stand_in(request(), roots(), {0, 1}, clock_);
  ASSERT_TRUE(stands_in) << stands_in.error().text();
  (*stands_in)->free_purged();
  EXPECT_EQ(kept(0), std::set<std::string>());
  EXPECT_EQ(times_on_case(), before);
}

// A program without the library, and one that is static: what stands there tells.
TEST_F(RestartPointsTest, WithoutALibraryTheTimesThatStandThereTell) {
  settings_.redirected = false;
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time);
  EXPECT_EQ(newest(), "2");
  purge("1");
  write_time("4");
  EXPECT_EQ(newest(), "3");
  const DrainReport report = finish(false);
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_EQ(times_on_case(), (std::set<std::string>{"2", "3", "4"}));
}

}  // namespace
}  // namespace forebay::drain
