#include "run/drain/watch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace forebay::drain {
namespace {

class WatchTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-watch-XXXXXX";
    root_ = mkdtemp(pattern);
    std::filesystem::create_directories(root_ + "/processor0/0");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path) { std::ofstream(root_ + "/" + path) << "x"; }
  static bool has(const std::vector<Event>& events, Event::Kind kind, const std::string& path) {
    return std::ranges::any_of(events, [&](const Event& event) { return event.kind == kind && event.path == path; });
  }
  // The events that read() tells, and those that descend() adds for new directories.
  static std::vector<Event> read(Watcher& watcher, Watcher::Follow follow = Watcher::Follow::watch) {
    std::vector<Event> events = watcher.read(0).value();
    for (std::size_t i = 0, count = events.size(); i < count; ++i)
      if (events[i].directory && (events[i].kind == Event::Kind::created || events[i].kind == Event::Kind::moved_in))
        watcher.descend(std::string(events[i].path), follow, events);
    return events;
  }
  std::string root_;
};

TEST_F(WatchTest, AFileHasAnEventWhenItIsClosed) {
  auto watcher = Watcher::open().value();
  ASSERT_TRUE(watcher.add_tree(root_, ""));
  write("processor0/0/U");
  const auto events = read(watcher);
  EXPECT_TRUE(has(events, Event::Kind::created, "processor0/0/U"));
  EXPECT_TRUE(has(events, Event::Kind::closed, "processor0/0/U"));
}

TEST_F(WatchTest, WhatIsInADirectoryBeforeItIsWatchedIsFound) {
  auto watcher = Watcher::open().value();
  ASSERT_TRUE(watcher.add_tree(root_ + "/processor0", "processor0"));
  std::filesystem::create_directories(root_ + "/processor0/0.1/uniform");
  write("processor0/0.1/U");
  write("processor0/0.1/uniform/time");
  auto events = read(watcher);
  EXPECT_TRUE(has(events, Event::Kind::found, "processor0/0.1/U"));
  EXPECT_TRUE(has(events, Event::Kind::found, "processor0/0.1/uniform/time"));
  write("processor0/0.1/uniform/late");
  events = read(watcher);
  EXPECT_TRUE(has(events, Event::Kind::closed, "processor0/0.1/uniform/late"));
}

TEST_F(WatchTest, WhatHappensInADirectoryThatIsOnlyListedHasNoEvent) {
  auto watcher = Watcher::open().value();
  ASSERT_TRUE(watcher.add_tree(root_ + "/processor0", "processor0"));
  std::filesystem::create_directories(root_ + "/processor0/0.1/uniform");
  write("processor0/0.1/uniform/time");
  EXPECT_TRUE(has(read(watcher, Watcher::Follow::list), Event::Kind::found, "processor0/0.1/uniform/time"));
  write("processor0/0.1/uniform/late");
  EXPECT_TRUE(read(watcher).empty());
  std::filesystem::remove_all(root_ + "/processor0/0.1");
  EXPECT_TRUE(has(read(watcher), Event::Kind::deleted, "processor0/0.1"));
}

// However many there are, and whether they were taken in before or not.
TEST_F(WatchTest, EventsThatWereTakenInAreToldFirst) {
  auto watcher = Watcher::open().value();
  ASSERT_TRUE(watcher.add_tree(root_, ""));
  EXPECT_FALSE(watcher.has_taken_in());
  std::vector<std::string> written;
  const auto write_one = [&] {
    written.push_back("processor0/0/" + std::to_string(written.size()));
    write(written.back());
  };
  for (int i = 0; i < 100; ++i) write_one();
  ASSERT_TRUE(watcher.take_in(1));
  EXPECT_TRUE(watcher.has_taken_in());
  EXPECT_FALSE(watcher.crowded());
  while (!watcher.crowded()) {
    ASSERT_LT(written.size(), 6000) << "never crowded";
    for (int i = 0; i < 100; ++i) write_one();
    ASSERT_TRUE(watcher.take_in(2));
  }
  for (int i = 0; i < 2000; ++i) write_one();
  std::vector<std::string> closed;
  const std::vector<Event> events = watcher.read(3).value();
  EXPECT_EQ(events[199].when, 1) << "two for each file";
  EXPECT_EQ(events[200].when, 2);
  EXPECT_EQ(events.back().when, 3);
  for (const Event& event : events) {
    EXPECT_NE(event.kind, Event::Kind::overflow);
    if (event.kind == Event::Kind::closed) closed.push_back(event.path);
  }
  EXPECT_EQ(closed, written);
  EXPECT_FALSE(watcher.has_taken_in());
  EXPECT_TRUE(watcher.read(0)->empty());
}

TEST_F(WatchTest, AMovedDirectoryIsWatchedUnderItsNewName) {
  auto watcher = Watcher::open().value();
  ASSERT_TRUE(watcher.add_tree(root_, ""));
  std::filesystem::rename(root_ + "/processor0", root_ + "/processor1");
  auto events = read(watcher);
  EXPECT_TRUE(has(events, Event::Kind::moved_out, "processor0"));
  EXPECT_TRUE(has(events, Event::Kind::moved_in, "processor1"));
  write("processor1/0/p");
  events = read(watcher);
  EXPECT_TRUE(has(events, Event::Kind::closed, "processor1/0/p"));
  EXPECT_FALSE(has(events, Event::Kind::closed, "processor0/0/p"));
}

TEST_F(WatchTest, ALinkToADirectoryIsNotFollowed) {
  std::filesystem::create_directories(root_ + "/elsewhere");
  std::filesystem::create_directories(root_ + "/tree");
  std::filesystem::create_directory_symlink(root_ + "/elsewhere", root_ + "/tree/link");
  auto watcher = Watcher::open().value();
  ASSERT_TRUE(watcher.add_tree(root_ + "/tree", ""));
  write("elsewhere/file");
  EXPECT_TRUE(watcher.read(0).value().empty());
}

}  // namespace
}  // namespace forebay::drain
