#include "run/drain/keep.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace forebay::drain {
namespace {

class KeepTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-keep-XXXXXX";
    pool_ = mkdtemp(pattern);
    std::filesystem::create_directories(pool_ + "/tree/0.1/uniform");
  }
  void TearDown() override { std::filesystem::remove_all(pool_); }
  std::string write(const std::string& file, const std::string& content) {
    const std::string path = pool_ + "/tree/0.1/" + file;
    std::ofstream(path) << content;
    return path;
  }
  // As the redirection library does when the program removes a file.
  void hand_over(const std::string& path, const std::string& name) {
    std::filesystem::rename(path, pool_ + "/keep/processor3/handed-over/" + name);
  }
  // Until what happens has a later time than what has happened: the kernel's clock of files has ticks.
  void await_tick() const {
    const auto now = [this] {
      EXPECT_EQ(::chmod(pool_.c_str(), 0700), 0);
      struct stat status {};
      EXPECT_EQ(::stat(pool_.c_str(), &status), 0);
      return std::pair(status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
    };
    for (const auto before = now(); now() == before;) {
    }
  }
  std::string pool_;
};

TEST_F(KeepTest, AKeptTimeSurvivesThePurgeOfTheProgram) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  EXPECT_TRUE(keep.add(3, "0.1", "U", write("U", "velocity")).value());
  EXPECT_TRUE(keep.add(3, "0.1", "uniform/time", write("uniform/time", "now")).value());
  std::filesystem::remove_all(pool_ + "/tree/0.1");
  const std::string directory = keep.as_directory(3, "0.1").value();
  EXPECT_EQ(read_file(directory + "/U").value(), "velocity");
  EXPECT_EQ(read_file(directory + "/uniform/time").value(), "now");
}

TEST_F(KeepTest, AFileThatIsGoneAlreadyIsToldSo) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  EXPECT_FALSE(keep.add(3, "0.1", "U", pool_ + "/tree/0.1/U").value());
}

TEST_F(KeepTest, AFileWrittenAnewReplacesWhatWasKept) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  const std::string path = write("U", "old");
  ASSERT_TRUE(keep.add(3, "0.1", "U", path).value());
  std::filesystem::remove(path);
  write("U", "new");
  ASSERT_TRUE(keep.add(3, "0.1", "U", path).value());
  EXPECT_EQ(read_file(keep.as_directory(3, "0.1").value() + "/U").value(), "new");
}

TEST_F(KeepTest, AFileThatWasRemovedBeforeItWasKeptIsTakenFromWhatWasHandedOver) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  const std::string path = write("uniform/time", "now");
  hand_over(path, "0.1%2Funiform%2Ftime");
  EXPECT_TRUE(keep.add(3, "0.1", "uniform/time", path).value());
  EXPECT_TRUE(keep.handed_over(3).value().empty());
  EXPECT_TRUE(keep.add(3, "0.1", "uniform/time", path).value()) << "closed twice before it was removed";
  EXPECT_EQ(read_file(keep.as_directory(3, "0.1").value() + "/uniform/time").value(), "now");
}

TEST_F(KeepTest, WhatNoEventToldOfIsTakenToo) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  hand_over(write("U", "velocity"), "0.1%2FU");
  const auto handed = keep.handed_over(3).value();
  ASSERT_EQ(handed.size(), 1u);
  EXPECT_EQ(handed[0].file, "U");
  EXPECT_TRUE(keep.take(handed[0]));
  EXPECT_TRUE(keep.contains(3, "0.1", "U"));
  EXPECT_TRUE(keep.handed_over(3).value().empty());
}

TEST_F(KeepTest, ATimeThatWasMovedOverAsAWholeIsTakenFileByFile) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  const std::string path = write("U", "velocity");
  for (const std::string file : {"p", "uniform/time", "uniform/half"}) write(file, file);
  write(std::string(254, 'x'), "its name is too long with the time's");
  std::ofstream open(pool_ + "/tree/0.1/uniform/half", std::ios::app);
  std::filesystem::create_directory_symlink("/etc", pool_ + "/tree/0.1/system");
  const std::string moved = pool_ + "/keep/processor3/handed-over/0.1";
  std::filesystem::rename(pool_ + "/tree/0.1", moved);
  EXPECT_TRUE(keep.add(3, "0.1", "U", path).value()) << "its closing was told";
  std::set<std::string> taken, refused;
  const auto all = keep.handed_over(3).value();
  for (const auto& handed : all) {
    EXPECT_EQ(Keep::fits(handed), handed.file.size() < 254);
    (keep.take(handed) ? taken : refused).insert(handed.file);
  }
  EXPECT_EQ(taken, (std::set<std::string>{"p", "uniform/time"}));
  EXPECT_EQ(refused, (std::set<std::string>{"system", "uniform/half", std::string(254, 'x')}));
  EXPECT_EQ(keep.files(3, "0.1"), (std::set<std::string>{"U", "p", "uniform/time"}));
  EXPECT_TRUE(keep.handed_over(3).value().empty());
  EXPECT_FALSE(std::filesystem::exists(moved)) << "what is empty goes";
  EXPECT_TRUE(std::filesystem::exists("/etc/passwd"));
}

TEST_F(KeepTest, OfAFileThatIsThereByItselfAndWithItsTimeTheLaterOneIsTaken) {
  const std::string time = pool_ + "/tree/0.1", moved = pool_ + "/keep/processor3/handed-over/0.1";
  for (const bool alone_first : {true, false}) {
    Keep keep;
    ASSERT_TRUE(keep.add_rank(3, pool_));
    for (const std::string content : {"old", "new"}) {
      std::filesystem::create_directories(time);
      const std::string path = write("U", content);
      if (alone_first == (content == "old")) {
        ASSERT_TRUE(keep.add(3, "0.1", "U", path).value());
        hand_over(path, "0.1%2FU");
        keep.remove(3, "0.1", "U");  // it is another link of the same file
      } else {
        std::filesystem::rename(time, moved);
      }
      await_tick();
    }
    const auto handed = keep.handed_over(3).value();
    ASSERT_EQ(handed.size(), 1u) << "one file";
    EXPECT_TRUE(keep.take(handed[0]));
    EXPECT_EQ(read_file(keep.path(3, "0.1", "U")).value(), "new") << alone_first;
    EXPECT_TRUE(keep.handed_over(3).value().empty());
    ASSERT_TRUE(keep.drop("0.1"));
  }
}

TEST_F(KeepTest, WhatCannotBeReadOfAMovedTimeIsToldAndStays) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  write("uniform/time", "now");
  const std::string moved = pool_ + "/keep/processor3/handed-over/0.1";
  std::filesystem::rename(pool_ + "/tree/0.1", moved);
  const int next = ::dup(STDIN_FILENO);
  ::close(next);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{static_cast<rlim_t>(next) + 2, before.rlim_max};  // for the time's directory and its listing
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto handed = keep.handed_over(3).value();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_EQ(handed.size(), 1u);
  EXPECT_FALSE(Keep::fits(handed[0]) || keep.take(handed[0]));
  EXPECT_TRUE(std::filesystem::exists(moved + "/uniform/time"));
}

TEST_F(KeepTest, WhereItCannotBeListedWhatWasHandedOverNothingIsNoAnswer) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  std::filesystem::remove(pool_ + "/keep/processor3/handed-over");
  const auto handed = keep.handed_over(3);
  ASSERT_FALSE(handed);
  EXPECT_NE(handed.error().text().find("keep/processor3/handed-over"), std::string::npos) << handed.error().text();
}

TEST_F(KeepTest, WhatWasRemovedWhileItWasOpenOrIsALinkIsNotTaken) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  const std::string path = write("U", "half");
  std::ofstream open(path, std::ios::app);
  hand_over(path, "0.1%2FU");
  std::filesystem::create_symlink("/etc/passwd", pool_ + "/keep/processor3/handed-over/0.1%2Fp");
  const auto all = keep.handed_over(3).value();
  for (const auto& handed : all) EXPECT_FALSE(keep.take(handed)) << handed.file;
  EXPECT_TRUE(keep.handed_over(3).value().empty());
  EXPECT_TRUE(keep.times().empty());
}

TEST_F(KeepTest, WhatIsMadeAnewIsNoLongerKept) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  const std::string path = write("U", "old");
  ASSERT_TRUE(keep.add(3, "0.1", "U", path).value());
  std::filesystem::remove(path);
  keep.remove(3, "0.1", "U");
  EXPECT_FALSE(keep.contains(3, "0.1", "U"));
  EXPECT_FALSE(keep.add(3, "0.1", "U", path).value());
}

TEST_F(KeepTest, ADroppedTimeTakesNoSpace) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  const std::string path = write("U", "x");
  ASSERT_TRUE(keep.add(3, "0.1", "U", path).value());
  (void)keep.as_directory(3, "0.1");
  ASSERT_TRUE(keep.drop("0.1"));
  struct stat status {};
  ASSERT_EQ(lstat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_nlink, 1u);
  EXPECT_TRUE(keep.times().empty());
}

TEST_F(KeepTest, WhatADeadRunKeptIsFoundAgain) {
  const std::string name = "odd%2Fname \n%";
  {
    Keep keep;
    ASSERT_TRUE(keep.add_rank(3, pool_));
    ASSERT_TRUE(keep.add(3, "0.1", name, write(name, "x")).value());
  }
  Keep again;
  ASSERT_TRUE(again.add_rank(3, pool_));
  EXPECT_EQ(again.files(3, "0.1"), std::set<std::string>{name});
}

}  // namespace
}  // namespace forebay::drain
