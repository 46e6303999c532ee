// Proves how a growing file grows on the case: a fault at every call of it, one after the other, and what others did to
// it.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "run/publish/tests/case_fixture.h"
#include "run/publish/tests/faulty_files.h"

namespace forebay::drain {
namespace {

const std::string first_part(100'000, 'a'), whole_log = first_part + std::string(700'000, 'b');

class AppendTest : public CaseTest {
 protected:
  void SetUp() override {
    CaseTest::SetUp();
    log_ = case_ + "/log";
    write(log_, first_part);
    write(pool_ + "/log", whole_log);
  }
  // A unit that appends the local file's bytes up to `until`.
  layouts::Unit rest(std::uint64_t until) {
    layouts::Unit unit;
    unit.target = "log";
    unit.continues = known_;
    unit.files.push_back(output("", pool_ + "/log", 0));
    unit.files.front().pieces = {{"", pool_ + "/log", known_.size, until - known_.size}};
    return unit;
  }
  bool is_beginning() const { return whole_log.starts_with(content(log_)); }

  std::string log_;
  Identity known_;
  PublishSettings settings_;
};

TEST_F(AppendTest, AFaultAtAnyCallLeavesABeginningAndTheNextAttemptBringsTheRest) {
  enum class Fault { input_output_error, no_space, lost_answer, short_write, death };
  for (const Fault fault :
       {Fault::input_output_error, Fault::no_space, Fault::lost_answer, Fault::short_write, Fault::death}) {
    for (int number = 1;; ++number) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(fault) << " at call " << number);
      write(log_, first_part);
      known_ = identity(log_);
      FaultyFiles faulty(*files_);
      switch (fault) {
        case Fault::input_output_error:
          faulty.fail_call(number, EIO);
          break;
        case Fault::no_space:
          faulty.fail_call(number, ENOSPC);
          break;
        case Fault::lost_answer:
          faulty.lose_answer(number);
          break;
        case Fault::short_write:
          faulty.shorten_write(number);
          break;
        case Fault::death:
          faulty.die_at(number);
          break;
      }
      Attempts attempts;
      const auto first = publish(faulty, rest(whole_log.size()), "run", settings_, attempts);
      EXPECT_TRUE(is_beginning());
      if (!faulty.reached()) {
        EXPECT_TRUE(first);
        EXPECT_TRUE(content(log_) == whole_log);
        break;
      }
      if (!first) {
        ASSERT_NE(first.error().code, Code::conflict);
        ASSERT_TRUE(publish(*files_, rest(whole_log.size()), "run", settings_, attempts));
      }
      EXPECT_TRUE(content(log_) == whole_log);
      EXPECT_EQ(identity(log_).mtime_ns, 1'500'000'000'123'456'789);
    }
  }
}

TEST_F(AppendTest, WhatItHasNowIsWhereTheNextPartBegins) {
  known_ = identity(log_);
  for (const std::size_t until : {first_part.size(), first_part.size() + 1, whole_log.size() / 2, whole_log.size()}) {
    const auto published = publish(*files_, rest(until), "run", settings_);
    ASSERT_TRUE(published) << published.error().text();
    EXPECT_TRUE(content(log_) == whole_log.substr(0, until));
    EXPECT_EQ(published->bytes, until - known_.size);
    known_ = published->files.front().identity;
  }
}

TEST_F(AppendTest, WhatSomebodyElseDidToItIsLeftAsItIs) {
  const auto user = [&](const std::string& what, const std::string& left, const auto& act) {
    SCOPED_TRACE(what);
    std::filesystem::remove_all(log_);
    write(log_, first_part);
    known_ = identity(log_);
    act();
    Attempts attempts;
    attempts.appended = what == "edited after an attempt";
    const auto published = publish(*files_, rest(whole_log.size()), "run", settings_, attempts);
    ASSERT_FALSE(published);
    EXPECT_EQ(published.error().code, Code::conflict);
    EXPECT_TRUE(content(log_) == left);
  };
  user("appended to", first_part + "mine", [&] { std::ofstream(log_, std::ios::app) << "mine"; });
  user("edited after an attempt", first_part + "mine", [&] { std::ofstream(log_, std::ios::app) << "mine"; });
  user("emptied", "", [&] { std::ofstream(log_, std::ios::trunc).flush(); });
  user("replaced", first_part, [&] {
    write(log_ + ".new", first_part);
    std::filesystem::rename(log_ + ".new", log_);
  });
  user("given another name", first_part, [&] { std::filesystem::create_hard_link(log_, log_ + ".snapshot"); });
  user("removed", "<none>", [&] { std::filesystem::remove(log_); });
  write(case_ + "/elsewhere", first_part);
  user("led elsewhere", first_part, [&] {
    std::filesystem::remove(log_);
    std::filesystem::create_symlink("elsewhere", log_);
  });
  EXPECT_TRUE(content(case_ + "/elsewhere") == first_part);
}

}  // namespace
}  // namespace forebay::drain
