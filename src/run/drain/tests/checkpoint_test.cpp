#include "run/drain/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace forebay::drain {
namespace {

using namespace std::chrono_literals;

LocalMark mark(std::uint64_t inode, std::int64_t mtime_ns = 1) {
  return {inode, 8, mtime_ns, 0644};
}

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-checkpoint-XXXXXX";
    pool_ = mkdtemp(pattern);
    tree_ = pool_ + "/tree";
    std::filesystem::create_directories(tree_ + "/sub");
    write("main", "1");
    write("sub/auxiliary", "1");
    checkpoint_.emplace("checkpoint", pool_ + "/aside", CheckpointVersions{}, now_);
  }
  void TearDown() override { std::filesystem::remove_all(pool_); }

  // Two looks that find this.
  bool finds(const Marks& marks) {
    checkpoint_->looked(marks, tree_);
    checkpoint_->looked(marks, tree_);
    return checkpoint_->is_found();
  }
  void write(const std::string& file, const std::string& text) { std::ofstream(tree_ + "/" + file) << text; }
  int keep(const Marks& marks) {
    EXPECT_TRUE(finds(marks));
    EXPECT_TRUE(checkpoint_->keep(tree_));
    return checkpoint_->becomes_whole();
  }
  bool is_kept(int version) const { return std::filesystem::exists(checkpoint_->directory(version)); }

  const Marks first_{{"main", mark(1)}, {"sub/auxiliary", mark(2)}},
      second_{{"main", mark(3)}, {"sub/auxiliary", mark(4)}};
  std::string pool_, tree_;
  Checkpoint::Time now_{1h};
  std::optional<Checkpoint> checkpoint_;
};

TEST_F(CheckpointTest, AVersionIsWhatTwoLooksInARowFindAlike) {
  checkpoint_->looked(first_, tree_);
  EXPECT_FALSE(checkpoint_->takes_doubt());
  checkpoint_->looked(Marks{{"main", mark(1, 2)}, {"sub/auxiliary", mark(2)}}, tree_);
  EXPECT_FALSE(checkpoint_->is_found()) << "written again in place";
  checkpoint_->looked(first_, tree_);
  EXPECT_FALSE(checkpoint_->is_found()) << "not in a row";
  checkpoint_->looked(first_, tree_);
  EXPECT_TRUE(checkpoint_->is_found());
  EXPECT_TRUE(checkpoint_->takes_doubt());
  EXPECT_FALSE(checkpoint_->takes_doubt()) << "once for each look";
  checkpoint_->looked(std::nullopt, tree_);
  EXPECT_FALSE(checkpoint_->is_found()) << "one is open for writing by now";
  checkpoint_->looked(first_, tree_);
  EXPECT_FALSE(checkpoint_->is_found());
}

TEST_F(CheckpointTest, WhatTheProgramHasNotTouchedAndWhatIsWholeAlreadyIsNoNewVersion) {
  EXPECT_FALSE(finds({{"main", LocalMark{}}, {"sub/auxiliary", LocalMark{}}}));
  EXPECT_FALSE(finds({}));
  EXPECT_EQ(keep({{"main", mark(1)}, {"sub/auxiliary", LocalMark{}}}), 1);
  EXPECT_FALSE(finds({{"main", mark(1)}, {"sub/auxiliary", LocalMark{}}}));
  EXPECT_FALSE(finds({{"main", mark(1)}})) << "the other one may be about to be written";
  EXPECT_TRUE(finds({{"main", mark(2)}}));
}

TEST_F(CheckpointTest, LooksComeAtAnInterval) {
  EXPECT_TRUE(checkpoint_->is_to_be_looked_at(now_, 1s));
  EXPECT_FALSE(checkpoint_->is_to_be_looked_at(now_ + 999ms, 1s));
  EXPECT_TRUE(checkpoint_->is_to_be_looked_at(now_ + 1s, 1s));
}

TEST_F(CheckpointTest, AVersionIsKeptUntilTheCaseHasItOrALaterOneIsFound) {
  EXPECT_EQ(keep(first_), 1);
  EXPECT_TRUE(std::filesystem::equivalent(checkpoint_->directory(1) + "/sub/auxiliary", tree_ + "/sub/auxiliary"));
  checkpoint_->take(1);
  EXPECT_EQ(keep(second_), 2);
  EXPECT_TRUE(is_kept(1)) << "it is on its way";
  checkpoint_->landed(true, now_);
  EXPECT_FALSE(is_kept(1));
  EXPECT_EQ(checkpoint_->to_carry(), 2);
  EXPECT_EQ(keep(first_), 3);
  EXPECT_FALSE(is_kept(2)) << "nobody will ask for it any more";
  checkpoint_->take(3);
  checkpoint_->landed(true, now_);
  EXPECT_FALSE(is_kept(3));
  EXPECT_EQ(checkpoint_->to_carry(), std::nullopt);
}

TEST_F(CheckpointTest, OneThatTheProgramWroteToIsGivenUpForThatOfTheCase) {
  keep(first_);
  checkpoint_->take(1);
  checkpoint_->landed(true, now_);
  keep(second_);
  checkpoint_->spoiled();
  EXPECT_EQ(checkpoint_->whole(), 1);
  EXPECT_EQ(checkpoint_->to_carry(), std::nullopt);
  EXPECT_FALSE(is_kept(2));
  EXPECT_EQ(keep(second_), 2);
}

TEST_F(CheckpointTest, AFileThatMayBeCutIsOfNoVersionUntilAnotherFileHasItsName) {
  keep(first_);
  Marks there = first_;
  there["main"] = mark(5);
  checkpoint_->distrust(there, tree_);
  EXPECT_FALSE(finds(there));
  there["main"] = mark(5, 2);
  EXPECT_FALSE(finds(there)) << "it was written to again";
  write("new", "2");
  std::filesystem::rename(tree_ + "/new", tree_ + "/main");
  EXPECT_TRUE(finds(there)) << "the other file was whole before";
}

}  // namespace
}  // namespace forebay::drain
