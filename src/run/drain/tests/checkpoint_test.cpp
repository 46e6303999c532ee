#include "run/drain/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace forebay::drain {
namespace {

using namespace std::chrono_literals;

constexpr auto quiet = 2s;

// A program's directory with a file for each part of its state, and what an attentive agent tells of it.
class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-checkpoint-XXXXXX";
    pool_ = mkdtemp(pattern);
    std::filesystem::create_directories(pool_ + "/tree");
    ASSERT_TRUE(checkpoint_.open(pool_ + "/aside", {}, {}));
  }
  void TearDown() override { std::filesystem::remove_all(pool_); }

  std::string local(const std::string& file) const { return pool_ + "/tree/" + file; }
  void remove(const std::string& file) {
    std::filesystem::remove(local(file));
    checkpoint_.removed(file);
  }
  void make(const std::string& file, const std::string& content) {
    std::ofstream(local(file)) << content;
    checkpoint_.made(file);
  }
  void close(const std::string& file) { ASSERT_TRUE(checkpoint_.closed(file, local(file), now_)); }
  // The agent has read all events, twice.
  void handle_all() {
    checkpoint_.all_handled();
    checkpoint_.all_handled();
  }
  // As Code_Saturne does.
  void replace(const std::string& file, const std::string& content) {
    if (std::filesystem::exists(local(file))) remove(file);
    make(file, content);
    close(file);
    handle_all();
  }
  void write_all(const std::string& content) {
    for (const std::string file : {"main", "auxiliary"}) replace(file, content);
  }
  // Two versions, after which it is known which files change.
  void learn() {
    for (const std::string content : {"1", "2"}) {
      write_all(content);
      checkpoint_.vouch();
      ASSERT_TRUE(newly_whole(quiet));
    }
  }
  std::optional<int> newly_whole(std::chrono::milliseconds later = 0ms) {
    return checkpoint_.newly_whole(now_ + later, quiet);
  }
  std::string kept(int version, const std::string& file) {
    std::ifstream from(checkpoint_.take(version).value() + "/" + file);
    return {std::istreambuf_iterator<char>(from), {}};
  }

  std::string pool_;
  Checkpoint::Time now_{1h};
  Checkpoint checkpoint_{"checkpoint", now_};
};

TEST_F(CheckpointTest, TheFirstVersionIsWholeWhenTheProgramBeginsTheNextOrLongGoesOnWithoutOne) {
  write_all("1");
  checkpoint_.vouch();
  EXPECT_FALSE(newly_whole()) << "there may be another file to come";
  EXPECT_EQ(newly_whole(quiet), 1);
  TearDown();
  SetUp();
  checkpoint_ = Checkpoint("checkpoint", now_);
  ASSERT_TRUE(checkpoint_.open(pool_ + "/aside", {}, {}));
  write_all("1");
  remove("main");
  checkpoint_.vouch();
  EXPECT_EQ(newly_whole(), 1);
  EXPECT_EQ(kept(1, "main") + kept(1, "auxiliary"), "11");
}

TEST_F(CheckpointTest, ALaterVersionIsWholeWhenEveryFileIsNewThatChanges) {
  replace("mesh", "same for ever");
  learn();
  replace("main", "3");
  checkpoint_.vouch();
  EXPECT_FALSE(newly_whole()) << "the other file is of the version before";
  replace("auxiliary", "3");
  EXPECT_FALSE(newly_whole()) << "who is killed closes files as well";
  checkpoint_.vouch();
  const auto whole = newly_whole();
  ASSERT_TRUE(whole);
  EXPECT_EQ(kept(*whole, "main") + kept(*whole, "auxiliary") + kept(*whole, "mesh"), "33same for ever");
}

TEST_F(CheckpointTest, WhatIsBegunDoesNotTouchTheLastWholeVersion) {
  write_all("1");
  checkpoint_.vouch();
  const auto whole = newly_whole(quiet);
  ASSERT_TRUE(whole);
  remove("main");
  make("main", "2, and not more");
  checkpoint_.vouch();
  EXPECT_FALSE(newly_whole(quiet));
  EXPECT_EQ(checkpoint_.to_carry(), whole);
  EXPECT_EQ(kept(*whole, "main") + kept(*whole, "auxiliary"), "11");
}

TEST_F(CheckpointTest, AFileOfTheWritingItselfIsNoPartOfTheVersion) {
  learn();
  for (const std::string file : {"main", "auxiliary"}) {
    remove(file);
    make(file, "2");
    for (const std::string rank : {"0", "1"}) {  // before the agent looks
      checkpoint_.made(file + ".locktest." + rank);
      ASSERT_TRUE(checkpoint_.closed(file + ".locktest." + rank, local("gone"), now_));
      checkpoint_.removed(file + ".locktest." + rank);
    }
    make(file + ".locktest.2", "");  // while it looks
    close(file + ".locktest.2");
    remove(file + ".locktest.2");
    close(file);
    handle_all();
  }
  checkpoint_.vouch();
  const auto whole = newly_whole();
  ASSERT_TRUE(whole) << "no need to wait until it is quiet";
  EXPECT_EQ(checkpoint_.files(*whole), (std::set<std::string>{"auxiliary", "main"}));
}

TEST_F(CheckpointTest, AFileThatWasReplacedBeforeTheAgentLookedSpoilsTheVersionThatItIsTakenFor) {
  learn();
  replace("main", "2");
  remove("auxiliary");
  checkpoint_.made("auxiliary");
  // By now the program is far into the third one; the agent is told one by one.
  std::filesystem::remove(local("main"));
  std::ofstream(local("main")) << "3";
  std::ofstream(local("auxiliary")) << "3";
  close("auxiliary");  // of the second version, but what is linked is the third's
  checkpoint_.removed("main");
  checkpoint_.made("main");
  close("main");
  checkpoint_.removed("auxiliary");
  checkpoint_.made("auxiliary");
  checkpoint_.vouch();
  handle_all();
  EXPECT_FALSE(newly_whole(quiet)) << "a mixture";
  close("auxiliary");
  handle_all();
  checkpoint_.vouch();
  const auto whole = newly_whole();
  ASSERT_TRUE(whole);
  EXPECT_EQ(kept(*whole, "main") + kept(*whole, "auxiliary"), "33");
}

TEST_F(CheckpointTest, AFileThatSomebodyStillHasOpenIsNotWhole) {
  write_all("1");
  std::ofstream other(local("main"), std::ios::app);  // another rank
  checkpoint_.vouch();
  EXPECT_FALSE(newly_whole(quiet));
  other.close();
  EXPECT_TRUE(newly_whole(quiet));
}

TEST_F(CheckpointTest, NothingIsWholeOfWhatWasWrittenIntoAFullPoolOrWhenEventsWereLost) {
  replace("main", "1");
  make("auxiliary", "1, cut");
  checkpoint_.distrust();
  close("auxiliary");
  handle_all();
  checkpoint_.vouch();
  EXPECT_FALSE(newly_whole(quiet));
  write_all("2");
  checkpoint_.vouch();
  const auto whole = newly_whole(quiet);
  EXPECT_TRUE(whole) << "there is room again";
  checkpoint_.lose_track();
  write_all("3");
  checkpoint_.vouch();
  EXPECT_FALSE(newly_whole(quiet));
  EXPECT_EQ(checkpoint_.whole(), whole);
}

TEST_F(CheckpointTest, ACarriedVersionIsLetGoAndALaterOneIsStillToCarry) {
  write_all("1");
  checkpoint_.vouch();
  const auto first = newly_whole(quiet);
  ASSERT_TRUE(first && checkpoint_.take(*first));
  write_all("2");
  checkpoint_.vouch();
  const auto second = newly_whole(quiet);
  ASSERT_TRUE(second);
  EXPECT_FALSE(checkpoint_.files(*first).empty()) << "it is on its way";
  checkpoint_.landed(true, now_);
  EXPECT_TRUE(checkpoint_.files(*first).empty());
  EXPECT_EQ(checkpoint_.to_carry(), second);
}

TEST_F(CheckpointTest, AVersionThatADeadRunKeptIsFound) {
  write_all("1");
  checkpoint_.vouch();
  const auto whole = newly_whole(quiet);
  ASSERT_TRUE(whole);
  remove("main");
  Checkpoint resumed("checkpoint", now_);
  ASSERT_TRUE(resumed.open(pool_ + "/aside", whole, {}));
  EXPECT_EQ(resumed.to_carry(), whole);
  EXPECT_EQ(resumed.files(*whole), (std::set<std::string>{"auxiliary", "main"}));
}

}  // namespace
}  // namespace forebay::drain
