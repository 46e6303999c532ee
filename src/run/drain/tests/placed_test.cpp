// Files of the tree that lie in the pool of another socket, carried by a whole Drain.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "run/drain/tests/driven.h"
#include "run/drain/tests/late_writer.h"

namespace forebay::drain {
namespace {

using namespace std::chrono_literals;

class PlacedTest : public DrivenTest {
 protected:
  void SetUp() override {
    CaseTest::SetUp();
    tree_ = pool_ + "/s0/tree";
    placed_ = pool_ + "/s1/placed";
    std::filesystem::create_directories(tree_);
    std::filesystem::create_directories(placed_);
    for (const std::string socket : {"/s0", "/s1"}) write(pool_ + socket + "/" + sentinel_name, "{}");
    const std::string lower = pool_ + "/s0/lower";
    std::filesystem::create_symlink(case_, lower);
    DrainRequest request{case_, "run1", pool_ + "/s0", lower, false, {}, {placed_}};
    request.settings.settle = 10ms;
    request.settings.patience = 500ms;
    auto drain = Drain::open(request, clock_);
    ASSERT_TRUE(drain) << drain.error().text();
    drain_ = std::move(*drain);
    ASSERT_TRUE(drain_->add_rank(-1, pool_ + "/s0"));
    ASSERT_TRUE(drain_->add_root({tree_, "", pool_ + "/s0"}, {}));
  }

  // Places a file as the redirection library does.
  void place(const std::string& path, const std::string& name, const std::string& text) {
    write(placed_ + "/" + name, text);
    std::filesystem::create_directories(std::filesystem::path(tree_ + "/" + path).parent_path());
    std::filesystem::create_symlink(placed_ + "/" + name, tree_ + "/" + path);
  }
  DrainReport finish() {
    EXPECT_TRUE(drain_->begin_finish(true));
    await_end();
    return drain_->report();
  }

  std::string tree_, placed_;
};

TEST_F(PlacedTest, IsCarriedAsTheFileThatItIsAndAgainWhenItIsWrittenAgain) {
  place("states/u", "1", "first");
  ASSERT_TRUE(drive([&] { return content(case_ + "/states/u") == "first"; }));
  write(placed_ + "/1", "first and more");
  EXPECT_TRUE(drive([&] { return content(case_ + "/states/u") == "first and more"; })) << "no event told of it";
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_FALSE(std::filesystem::is_symlink(case_ + "/states/u"));
}

TEST_F(PlacedTest, IsEvictedWithTheFileItself) {
  place("states/u", "1", std::string(100'000, 'x'));
  ASSERT_TRUE(drive([&] { return std::filesystem::exists(case_ + "/states/u") && drain_->progress().active == 0; }));
  std::uint64_t freed = 0;
  ASSERT_TRUE(drive([&] { return (freed += drain_->evict(1)) > 0; }));
  EXPECT_GE(freed, 100'000u);
  EXPECT_EQ(content(tree_ + "/states/u").size(), 100'000u);
  EXPECT_TRUE(drive([&] { return !drain_->can_make_room(); }));
  EXPECT_FALSE(std::filesystem::exists(placed_ + "/1"));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/states/u").size(), 100'000u);
}

TEST_F(PlacedTest, GetsItsNameBackWhereItIsJustBeingOpenedWhenItIsEvicted) {
  place("states/u", "1", std::string(100'000, 'x'));
  ASSERT_TRUE(drive([&] { return std::filesystem::exists(case_ + "/states/u") && drain_->progress().active == 0; }));
  LateWriter program(tree_ + "/states/u");
  ASSERT_TRUE(drive([&] { return drain_->evict(1) > 0; }));
  program.open_and_write("late");
  EXPECT_TRUE(drive([&] { return program.has_written(); }));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/states/u"), std::string(100'000, 'x') + "late");
}

TEST_F(PlacedTest, IsCarriedWithTheTimeThatItsDirectoryBecame) {
  place("made/u", "1", "of a time");
  std::filesystem::rename(tree_ + "/made", tree_ + "/0.5");
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_FALSE(std::filesystem::is_symlink(case_ + "/0.5/u"));
  EXPECT_EQ(content(case_ + "/0.5/u"), "of a time");
}

TEST_F(PlacedTest, ALinkToAnythingElseOfAPoolIsCarriedAsALink) {
  write(pool_ + "/s1/secret", "secret");
  write(placed_ + "/directory/file", "secret");
  std::filesystem::create_symlink(pool_ + "/s1/secret", placed_ + "/link");
  const std::vector<std::string> targets{pool_ + "/s1/secret", placed_ + "/../secret", placed_ + "/link",
                                         placed_ + "/directory/file", pool_ + "/s0/journal"};
  for (std::size_t i = 0; i < targets.size(); ++i)
    std::filesystem::create_symlink(targets[i], tree_ + "/planted" + std::to_string(i));
  EXPECT_EQ(finish().trouble, std::nullopt);
  for (std::size_t i = 0; i < targets.size(); ++i)
    EXPECT_EQ(std::filesystem::read_symlink(case_ + "/planted" + std::to_string(i)), targets[i]);
}

TEST_F(PlacedTest, IsNamedWhereItsPoolIsGone) {
  place("states/u", "1", "text");
  write(tree_ + "/log", "log");
  std::filesystem::remove_all(pool_ + "/s1");
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, Code::lost);
  ASSERT_EQ(report.messages.size(), 1u);
  EXPECT_NE(report.messages.front().find("states/u"), std::string::npos) << report.messages.front();
  EXPECT_EQ(content(case_ + "/log"), "log");
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(case_ + "/states/u")));
}

TEST_F(PlacedTest, WithoutItsFileCountsAsUndrained) {
  place("states/u", "1", "text");
  std::filesystem::remove(placed_ + "/1");
  EXPECT_EQ(finish().trouble, Code::undrained);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(case_ + "/states/u")));
}

TEST_F(PlacedTest, APoolThatWasEmptiedIsALoss) {
  place("states/u", "1", "text");
  std::filesystem::remove_all(pool_ + "/s1");
  EXPECT_EQ(finish().trouble, Code::lost);
}

}  // namespace
}  // namespace forebay::drain
