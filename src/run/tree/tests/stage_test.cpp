// Copies of a case's files: whole and true, or an error that says so.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "run/tree/tree.h"

namespace forebay::tree {
namespace {

class StageTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-stage-XXXXXX";
    directory_ = mkdtemp(pattern);
    case_ = directory_ + "/case";
    tree_ = directory_ + "/tree";
    std::filesystem::create_directories(case_ + "/constant");
    put("constant/points", std::string(300'000, 'p'));  // more than one piece
    put("constant/faces", "faces");
    request_ = {case_, "", tree_, directory_ + "/lower", {}, [](const std::string&) { return true; }, 1};
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void put(const std::string& path, const std::string& content) const {
    std::ofstream(case_ + "/" + path, std::ios::binary) << content;
  }
  std::string staged(const std::string& path) const { return read_file(tree_ + "/" + path).value_or("<none>"); }
  Status stage() {
    auto made = list_inputs(request_);
    if (!made) return forward(made);
    StageProgress progress;
    return carry_out(request_, *made, progress);
  }
  // `act` is done once, after the first piece of constant/points was written.
  void while_points_are_copied(const std::function<void()>& act) {
    request_.write = [act, done = false](int fd, std::span<const std::byte> bytes, const std::string& path) mutable {
      auto written = write_all(fd, bytes, path);
      if (!done && bytes.size() > 1000) act();
      done = done || bytes.size() > 1000;
      return written;
    };
  }
  void expect_changed(const Status& staged_so) const {
    ASSERT_FALSE(staged_so);
    EXPECT_EQ(staged_so.error().code, Code::conflict);
    EXPECT_NE(staged_so.error().text().find("changed while it was staged"), std::string::npos);
    EXPECT_EQ(staged_so.error().path, case_ + "/constant/points");
    EXPECT_EQ(staged("constant/points"), "<none>") << "a mixture of two versions got the name";
  }

  std::string directory_, case_, tree_;
  StageRequest request_;
};

TEST_F(StageTest, ACopyHasTheContentOfItsOriginal) {
  ASSERT_TRUE(stage());
  EXPECT_EQ(staged("constant/points"), std::string(300'000, 'p'));
  EXPECT_EQ(staged("constant/faces"), "faces");
}

TEST_F(StageTest, ACopyThatDiffersFromItsOriginalGetsNoName) {
  request_.write = [](int fd, std::span<const std::byte> bytes, const std::string& path) {
    std::string bad(bytes.size(), 'p');
    bad[bad.size() / 2] = 'q';  // a medium that takes all and keeps something else
    return write_all(fd, bad, path);
  };
  const auto failed = stage();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::failed);
  EXPECT_EQ(failed.error().what, "the copy differs from its original:");
  EXPECT_EQ(failed.error().path, tree_ + "/constant/points");
  EXPECT_EQ(failed.error().advice, "check the pool's medium");
  EXPECT_EQ(staged("constant/points"), "<none>");
  request_.write = StageRequest().write;
  ASSERT_TRUE(stage()) << "the next attempt makes it whole";
  EXPECT_EQ(staged("constant/points"), std::string(300'000, 'p'));
}

TEST_F(StageTest, ACopyThatIsShortGetsNoName) {
  request_.write = [](int fd, std::span<const std::byte> bytes, const std::string& path) {
    return write_all(fd, bytes.first(bytes.size() - 1), path);
  };
  const auto failed = stage();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "the copy differs from its original:");
}

TEST_F(StageTest, AnEditOfTheSameSizeWhileAFileIsCopiedIsNoticed) {
  while_points_are_copied([this] { put("constant/points", std::string(300'000, 'n')); });
  expect_changed(stage());
  ASSERT_TRUE(stage());
  EXPECT_EQ(staged("constant/points"), std::string(300'000, 'n'));
}

TEST_F(StageTest, AnEditThatSetsTheTimeBackIsNoticed) {
  struct stat before {};
  ASSERT_EQ(stat((case_ + "/constant/points").c_str(), &before), 0);
  while_points_are_copied([&, this] {
    put("constant/points", std::string(300'000, 'n'));
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, (case_ + "/constant/points").c_str(), times, 0), 0);
  });
  expect_changed(stage());
}

TEST_F(StageTest, AnotherFileUnderTheNameIsNoticed) {
  while_points_are_copied([this] {
    put("new", std::string(300'000, 'n'));
    std::filesystem::rename(case_ + "/new", case_ + "/constant/points");
  });
  expect_changed(stage());
}

TEST_F(StageTest, AFileThatGrowsWhileItIsCopiedIsNoticed) {
  while_points_are_copied([this] { std::ofstream(case_ + "/constant/points", std::ios::app) << "more"; });
  expect_changed(stage());
}

}  // namespace
}  // namespace forebay::tree
