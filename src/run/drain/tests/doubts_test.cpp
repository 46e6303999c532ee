// Files that the case has already, and that change with size and time of modification as before.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

class DoubtsTest : public DrainTest {
 protected:
  // On a tmpfs a store through a mapping moves no time.
  std::string default_root() const override { return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; }

  // Where a page was read first, the store is no fault.
  static void store_through_mapping(const std::string& path, char value) {
    const Descriptor file(::open(path.c_str(), O_RDWR));
    ASSERT_TRUE(file);
    void* const page = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    ASSERT_NE(page, MAP_FAILED);
    volatile char* const first = static_cast<char*>(page);
    if (*first != value) *first = value;
    ::munmap(page, 1);
  }
  static timespec time_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0);
    return status.st_mtim;
  }
  static void set_time(const std::string& path, const timespec& time) {
    const timespec times[] = {time, time};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  void rewrite(const std::string& path, const std::string& text) {
    const timespec before = time_of(path);
    write(path, text);
    set_time(path, before);
  }
  void carry(const std::string& name) {
    write(tree() + "/" + name, "old");
    ASSERT_TRUE(drive([&] { return on_case(name); }));
    rounds();
  }
};

TEST_F(DoubtsTest, WhatAMappingChangedLastIsCarriedAgain) {
  open();
  carry("f");
  store_through_mapping(tree() + "/f", 'b');
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/f"), "bld");
}

TEST_F(DoubtsTest, SoIsAFileOfATimeThatTheCaseHas) {
  for (const bool collated : {false, true}) {
    settings_.collated = collated;
    open();
    write_time("1");
    write_time("2");
    ASSERT_TRUE(drive([&] { return is_safe("1"); }));
    const std::string path = local(1) + "/1/p", text = field("1", "valuef of 1");
    rewrite(path, text);
    EXPECT_EQ(finish().trouble, std::nullopt);
    const std::string there = content(case_ + (collated ? "/processors2/1/p" : "/processor1/1/p"));
    EXPECT_NE(there.find("valuef of 1"), std::string::npos) << there;
    TearDown();
    SetUp();
  }
}

TEST_F(DoubtsTest, WhatGotItsOldTimeBackIsCarriedAgainUnderEachOfItsNames) {
  open();
  carry("f");
  std::filesystem::create_hard_link(tree() + "/f", tree() + "/second");
  ASSERT_TRUE(drive([&] { return on_case("second"); }));
  rewrite(tree() + "/second", "new");
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/f") + content(case_ + "/second"), "newnew");
}

TEST_F(DoubtsTest, WhatWasWrittenByANameThatIsGoneIsCarriedAgain) {
  open();
  carry("f");
  std::filesystem::create_hard_link(tree() + "/f", tree() + "/second");
  rewrite(tree() + "/second", "new");
  std::filesystem::remove(tree() + "/second");
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/f"), "new");
}

TEST_F(DoubtsTest, ACopyOfAnInputThatAnotherFileReplacesOrAMappingChangesIsCarried) {
  open();
  const timespec before = time_of(tree() + "/setup");
  write(tree() + "/other", "replaced");
  set_time(tree() + "/other", before);
  std::filesystem::rename(tree() + "/other", tree() + "/setup");
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/setup"), "replaced");
  TearDown();
  SetUp();
  open();
  store_through_mapping(tree() + "/setup", 'O');
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/setup"), "Original");
}

TEST_F(DoubtsTest, WhatIsOpenedForWritingAndKeepsItsContentIsNotCarriedAgain) {
  open();
  carry("f");
  const auto before = std::filesystem::last_write_time(case_ + "/setup");
  struct stat carried {
  }, now{};
  ASSERT_EQ(::stat((case_ + "/f").c_str(), &carried), 0);
  for (const char* name : {"/f", "/setup"}) Descriptor const opened(::open((tree() + name).c_str(), O_RDWR));
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_EQ(report.amounts.shared.files, 1u);
  ASSERT_EQ(::stat((case_ + "/f").c_str(), &now), 0);
  EXPECT_EQ(now.st_ino, carried.st_ino);
  EXPECT_EQ(std::filesystem::last_write_time(case_ + "/setup"), before);
}

TEST_F(DoubtsTest, AResumedRunComparesAllSinceNobodyWatched) {
  for (const bool collated : {false, true}) {
    settings_.collated = collated;
    open();
    carry("f");
    carry("same");
    write_time("1");
    write_time("2");
    ASSERT_TRUE(drive([&] { return is_safe("1"); }));
    drain_.reset();
    rewrite(tree() + "/f", "new");
    store_through_mapping(tree() + "/setup", 'O');
    rewrite(local(1) + "/1/p", field("1", "valuef of 1"));
    resume();
    const DrainReport report = finish(false);
    EXPECT_EQ(report.trouble, std::nullopt);
    EXPECT_EQ(content(case_ + "/f"), "new");
    EXPECT_EQ(content(case_ + "/setup"), "Original");
    const std::string there = content(case_ + (collated ? "/processors2/1/p" : "/processor1/1/p"));
    EXPECT_NE(there.find("valuef of 1"), std::string::npos) << there;
    TearDown();
    SetUp();
  }
}

TEST_F(DoubtsTest, WhereEventsWereLostAllIsCompared) {
  open();
  carry("f");
  lose_events();
  rewrite(tree() + "/f", "new");
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/f"), "new");
}

TEST_F(DoubtsTest, WhatOutlivedTheProgramMayHaveWrittenUnseen) {
  open();
  carry("f");
  for (const int rank : {0, 1}) drain_->rank_ended(rank, true);
  drain_->set_writers({{}, {"a daemon"}});
  ASSERT_TRUE(drain_->begin_finish(true));
  store_through_mapping(tree() + "/f", 'b');
  for (int i = 0; i < 10; ++i) {
    (void)drain_->finished();
    pass_a_moment();
  }
  drain_->set_writers({});
  await_end();
  EXPECT_EQ(drain_->report().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/f"), "bld");
}

TEST_F(DoubtsTest, WhatWasWrittenLastIsNotEvicted) {
  open();
  carry("f");
  rewrite(tree() + "/f", "new");
  EXPECT_EQ(drain_->evict(1), 0u) << "its closing was not told of yet";
  EXPECT_EQ(content(tree() + "/f"), "new");
  ASSERT_TRUE(drive([&] { return content(case_ + "/f") == "new"; }));
  rounds();
  EXPECT_GT(drain_->evict(1), 0u) << "as it was carried again";
  EXPECT_EQ(finish().trouble, std::nullopt);
}

TEST_F(DoubtsTest, WhatWasWrittenWhileItWasEvictedAndTheAgentDiedComesHome) {
  open();
  carry("f");
  ASSERT_GT(drain_->evict(1), 0u);
  drain_.reset();
  ASSERT_TRUE(std::filesystem::is_symlink(tree() + "/f"));
  std::string aside;
  for (const auto& entry : std::filesystem::directory_iterator(home_ + "/tree"))
    if (entry.path().filename().string().ends_with("-evicted")) aside = entry.path();
  ASSERT_NE(aside, "");
  rewrite(aside, "new");
  resume();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/f"), "new");
}

}  // namespace
}  // namespace forebay::drain
