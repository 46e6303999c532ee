#include "run/tree/warm.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace forebay::tree {
namespace {

class WarmTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/forebay-warm-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    case_ = root_ + "/case";
    for (const char* name : {"/case/processor0", "/old", "/new"}) std::filesystem::create_directories(root_ + name);
  }
  void TearDown() override { (void)remove_tree(root_); }

  // A file that a run made in "old" and carried to the case.
  WarmFile carried(const std::string& name, const std::string& content) {
    const std::string local = root_ + "/old/" + name, home = case_ + "/processor0/" + name;
    std::ofstream(local) << content;
    std::filesystem::copy_file(local, home);
    std::filesystem::last_write_time(home, std::filesystem::last_write_time(local));
    struct stat status {};
    EXPECT_EQ(::lstat(home.c_str(), &status), 0);
    return {"processor0/" + name, local, identity_of(status)};
  }
  StageRequest request() { return {case_, "processor0", root_ + "/new", root_ + "/lower", {}, {}, 1}; }
  // Stages processor0 as links, then puts the warm files in.
  WarmSet stage() {
    auto inputs = tree::list_inputs(request());
    EXPECT_TRUE(inputs);
    StageProgress progress;
    EXPECT_TRUE(carry_out(request(), *inputs, progress));
    entries_ = inputs->entries;
    return use_warm(read_warm(warm_), request(), entries_);
  }
  bool is_link(const std::string& name) { return std::filesystem::is_symlink(root_ + "/new/" + name); }

  std::string root_, case_, warm_;
  std::vector<Entry> entries_;
};

TEST_F(WarmTest, AFileThatTheCaseStillHoldsIsLocalInTheNextRun) {
  warm_ = root_ + "/warm";
  const auto kept = keep_warm(warm_, {carried("odd\nname", "points"), carried("U", "field")}, 1000);
  ASSERT_TRUE(kept) << kept.error().text();
  EXPECT_EQ(kept->files, 2u);
  EXPECT_EQ(kept->bytes, 11u);
  EXPECT_EQ(stage().files, 2u);
  EXPECT_FALSE(is_link("odd\nname"));
  EXPECT_EQ(read_file(root_ + "/new/odd\nname").value_or(""), "points");
  for (const Entry& entry : entries_) EXPECT_EQ(entry.kind == Kind::copy, entry.path != "processor0") << entry.path;
}

TEST_F(WarmTest, AFileThatChangedOnTheCaseIsReadFromThere) {
  warm_ = root_ + "/warm";
  ASSERT_TRUE(keep_warm(warm_, {carried("U", "field")}, 1000));
  std::ofstream(case_ + "/processor0/U", std::ios::app) << "edited";
  EXPECT_EQ(stage().files, 0u);
  EXPECT_TRUE(is_link("U"));
}

TEST_F(WarmTest, AWarmFileThatWasTouchedIsNotUsed) {
  warm_ = root_ + "/warm";
  ASSERT_TRUE(keep_warm(warm_, {carried("U", "field")}, 1000));
  std::ofstream(warm_ + "/0", std::ios::app) << "damage";
  EXPECT_EQ(stage().files, 0u);
  EXPECT_TRUE(is_link("U"));
}

TEST_F(WarmTest, NoMoreThanTheBudgetIsKept) {
  warm_ = root_ + "/warm";
  const auto kept = keep_warm(warm_, {carried("large", std::string(100, 'x')), carried("small", "x")}, 50);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->files, 1u);
  EXPECT_EQ(stage().files, 1u);
  EXPECT_TRUE(is_link("large"));
  EXPECT_FALSE(is_link("small"));
}

TEST_F(WarmTest, ASetWithoutItsListIsNotUsed) {
  warm_ = root_ + "/warm";
  ASSERT_TRUE(keep_warm(warm_, {carried("U", "field")}, 1000));
  ASSERT_EQ(::unlink((warm_ + "/index").c_str()), 0);
  EXPECT_EQ(stage().files, 0u);
}

TEST_F(WarmTest, ANewSetReplacesTheOldOneAndAnEmptyOneLeavesNothing) {
  warm_ = root_ + "/warm";
  ASSERT_TRUE(keep_warm(warm_, {carried("U", "field")}, 1000));
  ASSERT_TRUE(keep_warm(warm_, {}, 1000));
  EXPECT_FALSE(std::filesystem::exists(warm_));
}

TEST_F(WarmTest, AFileThatIsToBeCopiedIsTakenInsteadAndNotCopied) {
  warm_ = root_ + "/warm";
  ASSERT_TRUE(keep_warm(warm_, {carried("points", "points"), carried("U", "field")}, 1000));
  std::ofstream(case_ + "/processor0/U") << "another field";  // not what was carried
  StageRequest all = request();
  all.copy = [](const std::string&) { return true; };
  auto inputs = tree::list_inputs(all);
  ASSERT_TRUE(inputs);
  const WarmSet brought = bring_warm(read_warm(warm_), all, *inputs);
  EXPECT_EQ(brought.files, 1u);
  EXPECT_EQ(brought.bytes, 6u);
  StageProgress progress;
  ASSERT_TRUE(carry_out(all, *inputs, progress));
  EXPECT_EQ(progress.kept_files, 1u);
  EXPECT_EQ(progress.kept_bytes, 6u);
  EXPECT_EQ(read_file(root_ + "/new/points").value_or(""), "points");
  EXPECT_EQ(read_file(root_ + "/new/U").value_or(""), "another field");
}

TEST_F(WarmTest, AnIndexSurvivesTheWayThroughText) {
  const std::vector<WarmFile> files{carried("odd\nname", "points"), carried("U", "field")};
  const auto back = warm_from_index(index_of_warm(files));
  ASSERT_EQ(back.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back[i].path, files[i].path);
    EXPECT_EQ(back[i].on_case, files[i].on_case);
  }
}

}  // namespace
}  // namespace forebay::tree
