// Failed writes of programs, as the redirection library notes them: played here by hand.
#include "run/drain/failed_writes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "run/contract/pages.h"
#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

class FailedWritesTest : public DrainTest {
 protected:
  void SetUp() override {
    DrainTest::SetUp();
    settings_.redirected = true;
    page_ = home_ + "/" + failed_writes_name;
  }

  void fail(const std::string& path, int error) const {
    auto file = open_file(page_, O_RDWR);
    ASSERT_TRUE(file);
    auto page = MappedFile::of(file->get(), 0, sizeof(contract::WriteErrors), PROT_READ | PROT_WRITE, page_);
    ASSERT_TRUE(page);
    auto& errors = *reinterpret_cast<contract::WriteErrors*>(page->bytes().data());
    const std::uint64_t number = errors.count.fetch_add(1);
    if (number >= contract::WriteErrors::slots) return;
    errors.slot[number].error = error;
    std::strncpy(errors.slot[number].path, path.c_str(), sizeof errors.slot[number].path - 1);
    errors.slot[number].written = 1;
  }
  // Marks a time as cut, as the library does.
  void cut(int rank, const std::string& time) {
    page_of(rank).line(lines_.at({rank, time})).flags |= contract::line_is_cut;
  }
  static void expect_named(const DrainReport& report, const std::string& text) {
    EXPECT_EQ(report.trouble, Code::pool_full);
    const auto names = [&](const std::string& message) { return message.find(text) != std::string::npos; };
    EXPECT_EQ(std::ranges::count_if(report.messages, names), 1)
        << text << " in " << testing::PrintToString(report.messages);
  }

  std::string page_;
};

TEST_F(FailedWritesTest, ARunWithAFailedWriteNamesTheFirstFileAndTheReason) {
  open();
  write_time("1");
  EXPECT_EQ(drain_->report().trouble, std::nullopt);
  fail("processor1/2/U", ENOSPC);
  for (int i = 0; i < 20; ++i) fail("log", EIO);
  rounds();
  expect_named(drain_->report(), "21 calls failed, the first for processor1/2/U (No space left on device)");
  expect_named(finish(), "21 calls failed, the first for processor1/2/U (No space left on device)");
}

TEST_F(FailedWritesTest, OneThatTheProgramMadeLastCountsToo) {
  open();
  write_time("1");
  EXPECT_EQ(drain_->begin_finish(true).has_value(), true);
  fail("log", EDQUOT);
  expect_named(finish(false), "1 call failed for log (Disk quota exceeded)");
}

TEST_F(FailedWritesTest, OneOfWhoOutlivedTheProgramCountsToo) {
  open();
  write_time("1");
  for (const int rank : {0, 1}) drain_->rank_ended(rank, true);
  ASSERT_TRUE(drain_->begin_finish(true));
  fail("log.xz", ENOSPC);
  await_end();
  expect_named(drain_->report(), "1 call failed for log.xz");
}

TEST_F(FailedWritesTest, ATimeOfWhichAWriteFailedIsNotCalledCompleteAndTheOneBeforeIs) {
  open();
  write_time("1");
  write_time("2", 0);
  write_time("2", 1);
  cut(1, "2");
  fail("processor1/2/p", ENOSPC);
  write_time("3");
  EXPECT_EQ(drain_->report().newest_complete, "1");
  write_time("4");
  const DrainReport report = drain_->report();
  EXPECT_EQ(report.newest_complete, "3");
  EXPECT_TRUE(std::ranges::none_of(report.timeline,
                                   [](const TimelineEntry& each) { return each.time == "2" && each.complete >= 0; }));
}

TEST_F(FailedWritesTest, WhatFailedBehindADeadAgentIsToldByWhoResumes) {
  open();
  write_time("1");
  drain_.reset();
  fail("processor0/2/p", ENOSPC);
  for (int i = 0; i < 2; ++i) {
    resume();
    expect_named(drain_->report(), "1 call failed for processor0/2/p");
  }
  std::filesystem::remove(page_);
  resume();
  expect_named(finish(false), "a pool ran full");
}

TEST_F(FailedWritesTest, AFileThatFailsByItsDeviceNeedsNoLargerPool) {
  open();
  fail("log", EIO);
  const DrainReport report = finish();
  expect_named(report, "a pool failed while the program was writing: 1 call failed for log (Input/output error)");
  EXPECT_EQ(report.messages.back().find("larger pool"), std::string::npos);
}

TEST_F(FailedWritesTest, WhoWasKilledWhileItNotedAnErrorIsCounted) {
  open();
  auto file = open_file(page_, O_RDWR);
  ASSERT_TRUE(file);
  const std::uint64_t one = 1;
  ASSERT_EQ(::pwrite(file->get(), &one, sizeof one, offsetof(contract::WriteErrors, count)), 8);
  expect_named(finish(), "1 call failed. What it wrote then may be short");
}

TEST_F(FailedWritesTest, WhereNoProgramHadTheLibraryASummaryOfANearlyFullPoolSaysSo) {
  const auto warns = [&] {
    const std::vector<std::string> messages = drain_->report().messages;
    return std::ranges::find(messages, writes_not_seen_text) != messages.end();
  };
  open();
  EXPECT_FALSE(warns());
  drain_->room_is_scarce(true);
  drain_->room_is_scarce(false);
  EXPECT_TRUE(warns());
  const std::uint64_t one = 1;
  auto file = open_file(page_, O_RDWR);
  ASSERT_TRUE(file);
  ASSERT_EQ(::pwrite(file->get(), &one, sizeof one, offsetof(contract::WriteErrors, programs)), 8);
  EXPECT_FALSE(warns());
}

TEST_F(FailedWritesTest, APageOfAnotherVersionOrALinkTellsNothing) {
  ASSERT_TRUE(FailedWrites::make(page_, {home_}));
  EXPECT_TRUE(FailedWrites::left_in(page_));
  std::filesystem::create_symlink(page_, page_ + ".link");
  EXPECT_FALSE(FailedWrites::left_in(page_ + ".link"));
  EXPECT_FALSE(FailedWrites::left_in(page_ + ".none"));
  std::filesystem::resize_file(page_, 100);
  EXPECT_FALSE(FailedWrites::left_in(page_));
  write(page_, std::string(8192, '\2'));
  EXPECT_FALSE(FailedWrites::left_in(page_));
}

}  // namespace
}  // namespace forebay::drain
