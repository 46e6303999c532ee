// In which order files get their names on the case: what names others comes behind them.
#include "run/drain/order.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "run/drain/tests/ranks_fixture.h"
#include "run/drain/version.h"

namespace forebay::drain {
namespace {

using namespace std::chrono_literals;

TEST(TargetTest, OfALinkIsAPathOfTheCase) {
  EXPECT_EQ(target_in_case("latest", "ckpt_12", "/case"), "ckpt_12");
  EXPECT_EQ(target_in_case("a/latest", "../b/./c/", "/case"), "b/c");
  EXPECT_EQ(target_in_case("a/latest", "/case/b", "/case"), "b");
  EXPECT_EQ(target_in_case("a/top", "..", "/case"), "");
  EXPECT_EQ(target_in_case("latest", "../other", "/case"), std::nullopt);
  EXPECT_EQ(target_in_case("latest", "/elsewhere", "/case"), std::nullopt);
  EXPECT_EQ(target_in_case("a/latest", "..b", "/case"), "a/..b");
}

Output output(const std::string& path, std::int64_t changed, std::uint64_t inode) {
  Output made{path, "", Output::Kind::file, {}, {}};
  made.mark.ctime_ns = changed;
  made.mark.inode = inode;
  return made;
}

std::vector<std::string> taken(FinalOrder& order) {
  std::vector<std::string> paths;
  while (const auto path = order.next()) paths.push_back(*path);
  return paths;
}

TEST(FinalOrderTest, IsThatOfClosingWhereEventsToldIt) {
  FinalOrder order;
  order.begin({{"data", 7}, {"index", 9}, {"latest", 3}});
  order.add(output("latest", 0, 0), 1);
  order.add(output("index", 1, 1), 0);
  order.add(output("data", 2, 2), 0);
  order.add(output("unseen", 3, 3), 0);
  EXPECT_EQ(taken(order), (std::vector<std::string>{"unseen", "data", "index", "latest"}));
}

TEST(FinalOrderTest, IsThatOfTheLastChangeWhereNobodyWatched) {
  FinalOrder order;
  order.add(output("a.pvd", 1, 1), 0);
  order.add(output("z", 5, 4), 0);
  order.add(output("b", 5, 9), 0);
  order.add(output("index", 6, 2), 0);
  order.add(output("to latest", 0, 0), 2);
  order.add(output("latest", 0, 0), 1);
  EXPECT_EQ(taken(order), (std::vector<std::string>{"z", "b", "index", "a.pvd", "latest", "to latest"}));
}

class PointersTest : public DrainTest {
 protected:
  void link(const std::string& target, const std::string& name) {
    std::filesystem::create_symlink(target, tree() + "/switched");
    std::filesystem::rename(tree() + "/switched", tree() + "/" + name);
  }
  std::string leads_to(const std::string& name) const {
    std::error_code none;
    return std::filesystem::read_symlink(case_ + "/" + name, none).string();
  }
};

TEST_F(PointersTest, ALinkWaitsForItsTargetAndNobodyForTheLink) {
  open();
  std::ofstream held(tree() + "/held", std::ios::binary);
  held << std::string(1, '\0') << std::flush;
  link("held", "latest");
  link("missing", "nowhere");
  write(tree() + "/after", "x");
  ASSERT_TRUE(drive([&] { return on_case("after") && leads_to("nowhere") == "missing"; }));
  rounds();
  EXPECT_EQ(leads_to("latest"), "");
  held.close();
  ASSERT_TRUE(drive([&] { return leads_to("latest") == "held"; }));
  EXPECT_TRUE(on_case("held"));
}

TEST_F(PointersTest, AFileWaitsForWhatWasClosedBeforeItUnderNamesThatTheCaseLacks) {
  settings_.settle = 1s;
  open();
  write(tree() + "/data", std::string("\0001", 2));
  write(tree() + "/setup", "the case has an older one");
  round();
  write(tree() + "/index", "data");
  clock_.move(500ms);
  write(tree() + "/data", std::string("\0002", 2));  // not quiet yet, when the index is
  write(tree() + "/setup", "and again");
  round();
  clock_.move(700ms);
  for (int i = 0; i < 20; ++i) round();
  EXPECT_FALSE(on_case("index") || on_case("data"));
  write(tree() + "/setup", "and again and again");
  round();
  clock_.move(500ms);
  ASSERT_TRUE(drive([&] { return on_case("index"); }));
  EXPECT_TRUE(on_case("data"));
  EXPECT_EQ(content(case_ + "/setup"), "original");
}

TEST_F(PointersTest, WhatIsWrittenAgainAndAgainIsCarriedAfterFiveSettles) {
  settings_.settle = 1s;
  open();
  int written = 0;
  const auto write_again = [&] {
    write(tree() + "/status", std::string(1, '\0') + std::to_string(++written));
    write(tree() + "/text", std::to_string(written));
    round();
    clock_.move(500ms);
  };
  write_again();
  write(tree() + "/after", "x");
  for (int i = 0; i < 8; ++i) write_again();
  EXPECT_FALSE(on_case("status") || on_case("after"));
  for (int i = 0; i < 40 && !on_case("after"); ++i) write_again();
  EXPECT_TRUE(on_case("after") && on_case("status"));
  for (int i = 0; i < 12; ++i) write_again();
  EXPECT_TRUE(on_case("text"));
}

TEST_F(PointersTest, TextThatIsWrittenAgainIsCarriedAsItWasInItsTurn) {
  settings_.settle = 1s;
  open();
  write(tree() + "/index", "one");
  round();
  clock_.move(1s);
  std::ofstream held(tree() + "/data", std::ios::binary);
  held << "data";
  write(tree() + "/index", "one, data");  // its closing is told after the last look
  drain_->tick();
  held.close();
  for (int i = 0; i < 20; ++i) round();
  EXPECT_FALSE(on_case("index"));
  clock_.move(1s);
  ASSERT_TRUE(drive([&] { return on_case("index"); }));
  EXPECT_EQ(content(case_ + "/index"), "one, data");
}

TEST_F(PointersTest, TextThatIsFoundEmptyMayBeWrittenAnewRightNow) {
  settings_.settle = 1s;
  open();
  write(tree() + "/index", "");
  round();
  clock_.move(1s);
  std::ofstream(case_ + "/later") << "of the case";  // the file system's clock goes on
  const std::string local = tree() + "/index";
  const auto version = version_of(local, "index");
  ASSERT_TRUE(version);
  write(local, "names data");
  EXPECT_FALSE(mark_of(*status_of(local)) == version->mark);
}

TEST_F(PointersTest, ALinkThroughALinkComesAfterThat) {
  open();
  std::filesystem::create_directories(tree() + "/ckpt_1/part");
  write(tree() + "/ckpt_1/state", "state");
  std::filesystem::create_symlink("ckpt_1", tree() + "/latest");
  std::filesystem::create_symlink("latest/state", tree() + "/current");
  std::filesystem::create_symlink("latest/part/../state", tree() + "/other");
  std::filesystem::create_symlink("current", tree() + "/newest");
  std::filesystem::create_symlink("round", tree() + "/round");
  const auto links = [&](const std::string& name) { return links_from(roots(), case_, name); };
  EXPECT_EQ(links("latest"), 1);
  EXPECT_EQ(links("current"), 2);
  EXPECT_EQ(links("other"), 2);
  EXPECT_EQ(links("newest"), 3);
  EXPECT_EQ(links("round"), 40);
  EXPECT_EQ(links("ckpt_1/state"), 0);
}

TEST_F(PointersTest, WhatAListingFindsComesInTheOrderOfItsChanges) {
  settings_.settle = 1s;
  settings_.mover.threads = 1;
  open();
  std::filesystem::create_directory(tree() + "/VTK");
  for (int i = 0; i < 40; ++i) write(tree() + "/VTK/" + std::to_string(i * 7919 % 1000), std::string(100'000, '\0'));
  write(tree() + "/VTK/index", "all of them");
  round();
  clock_.move(1s);
  for (int i = 0; i < 10'000 && !on_case("VTK/index"); ++i) round();
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(on_case("VTK/" + std::to_string(i * 7919 % 1000))) << i;
}

TEST_F(PointersTest, WhatIsRemovedOrRenamedHoldsNobodyBack) {
  settings_.settle = 1s;
  open();
  write(tree() + "/data", "x");
  write(tree() + "/below/data", "x");
  round();
  write(tree() + "/index", "data");
  round();
  std::filesystem::remove(tree() + "/data");
  std::filesystem::remove_all(tree() + "/below");
  round();
  clock_.move(1s);
  EXPECT_TRUE(drive([&] { return on_case("index"); }));
}

TEST_F(PointersTest, APurgedTimeStaysWhileALinkOfTheCaseLeadsToIt) {
  settings_.hold_times = true;
  settings_.safe_interval = 1ms;
  open();
  write_time("1");
  write_time("2");
  ASSERT_TRUE(drive([&] { return on_case("processor0/1/p") && on_case("processor1/1/p"); }));
  link("processor0/1", "latest");
  ASSERT_TRUE(drive([&] { return leads_to("latest") == "processor0/1"; }));
  write_time("3");
  ASSERT_TRUE(drive([&] { return is_safe("2") && on_case("processor1/2/p"); }));
  purge("1");
  for (int i = 0; i < 50; ++i) round();
  EXPECT_TRUE(on_case("processor0/1/p"));
  link("processor0/2", "latest");
  EXPECT_TRUE(drive([&] { return !on_case("processor0/1") && leads_to("latest") == "processor0/2"; }));
}

TEST_F(PointersTest, TheFirstRanksTimeComesLastAndTimesInTheirOrder) {
  settings_.live = false;
  open();
  for (const std::string time : {"1", "2", "3", "10"}) write_time(time);
  for (const int rank : {0, 1}) drain_->rank_ended(rank, true);
  EXPECT_TRUE(drain_->begin_finish(true));
  const std::vector<std::string> order{"1", "2", "3", "10"};
  for (int i = 0; i < 20'000 && !drain_->finished(); ++i) {
    for (std::size_t at = 0; at < order.size(); ++at) {
      if (!on_case("processor0/" + order[at])) continue;
      EXPECT_TRUE(on_case("processor1/" + order[at]));
      EXPECT_TRUE(at == 0 || on_case("processor0/" + order[at - 1]));
    }
    pass_a_moment();
  }
  EXPECT_TRUE(on_case("processor0/10/p"));
}

TEST_F(PointersTest, ATimeOfARankThatAScriptStartedAppearsAsAWhole) {
  settings_.settle = 1s;
  open();
  const auto write_file = [&](const std::string& time, const std::string& name) {
    for (const std::string top : {"processor7/", "processors4/"}) write(tree() + "/" + top + time + "/" + name, name);
    round();
  };
  write_file("1", "U");
  clock_.move(2s);
  for (int i = 0; i < 20; ++i) round();
  EXPECT_FALSE(on_case("processor7/1") || on_case("processors4/1")) << "there may be more of it";
  write_file("1", "uniform/time");
  write_file("2", "U");
  clock_.move(1s);
  ASSERT_TRUE(drive([&] { return on_case("processor7/1") && on_case("processors4/1"); }));
  EXPECT_TRUE(on_case("processor7/1/U") && on_case("processor7/1/uniform/time"));
  EXPECT_FALSE(on_case("processor7/2"));
  clock_.move(5s);
  ASSERT_TRUE(drive([&] { return on_case("processor7/2/U"); })) << "quiet for long";
  write_file("2", "late");
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/processor7/2/late") + content(case_ + "/processors4/2/late"), "latelate");
}

TEST_F(PointersTest, AFileOrALinkThatIsCalledLikeATimeIsNone) {
  open();
  for (const std::string top : {"processor7/", "processors4/"}) {
    write(tree() + "/" + top + "1", top);
    link("1", top + "2");
  }
  round();
  clock_.move(5s);
  ASSERT_TRUE(drive([&] { return on_case("processor7/1") && on_case("processors4/1"); }));
  for (const std::string top : {"processor7/", "processors4/"}) {
    write(tree() + "/" + top + "3", top);  // found at the end
    link("3", top + "4");
  }
  EXPECT_EQ(finish().trouble, std::nullopt);
  for (const std::string top : {"processor7/", "processors4/"}) {
    EXPECT_EQ(content(case_ + "/" + top + "1") + content(case_ + "/" + top + "3"), top + top);
    EXPECT_EQ(leads_to(top + "2") + leads_to(top + "4"), "13");
  }
}

}  // namespace
}  // namespace forebay::drain
