#include "run/launch/reporter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/tests/hand_clock.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

NodeReport report_of(const std::string& node, std::uint64_t beat, std::vector<int> ranks = {}) {
  NodeReport report;
  report.node = node;
  report.run = "run";
  report.beat = beat;
  report.ranks = std::move(ranks);
  return report;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

class ReporterTest : public ::testing::Test {
 protected:
  ReporterTest() {
    char pattern[] = "/tmp/forebay-reporter-XXXXXX";
    directory_ = mkdtemp(pattern);
    own_ = join(directory_, "node-a.json");
    other_ = join(directory_, "node-b.json");
  }
  ~ReporterTest() override { std::filesystem::remove_all(directory_); }

  HandClock clock_;
  std::string directory_, own_, other_;
};

TEST_F(ReporterTest, AReportTakesThePlaceOfALongerOneThatLayThereBefore) {
  write(own_, to_json(report_of(std::string(5000, 'x'), 1)));
  Reporter reporter(own_, clock_);
  for (const std::uint64_t beat : {2U, 3U}) {
    reporter.post(to_json(report_of(beat == 2 ? "a rather long name" : "a", beat)));
    ASSERT_TRUE(reporter.flush(10s));
    const auto read = read_node_report(own_);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->beat, beat);
  }
}

TEST_F(ReporterTest, ReadsTheOthersWhileItListensAndNoLonger) {
  write(other_, to_json(report_of("b", 1, {0})));
  Reporter reporter(own_, clock_);
  reporter.listen(5s, true);
  clock_.await_waiting();
  EXPECT_TRUE(reporter.heard());
  clock_.move(4s);
  EXPECT_FALSE(reporter.heard()) << "at its pace";
  clock_.move(1s);
  clock_.await_waiting();
  EXPECT_TRUE(reporter.heard());
  reporter.stop_listening();
  clock_.move(5s);
  reporter.post("{}");
  ASSERT_TRUE(reporter.flush(10s)) << "it has come round";
  EXPECT_FALSE(reporter.heard());
  reporter.listen(5s, false);
  clock_.await_waiting();
  EXPECT_TRUE(reporter.heard());
}

TEST_F(ReporterTest, WhatCannotBeWrittenIsTriedAgainAfterAWhile) {
  const std::string later = join(directory_, "later");
  Reporter reporter(join(later, "node-a.json"), clock_);
  reporter.post("{}");
  clock_.await_waiting();
  EXPECT_FALSE(reporter.flush(0ms));
  std::filesystem::create_directory(later);
  clock_.move(499ms);
  EXPECT_FALSE(reporter.flush(0ms));
  clock_.move(1ms);
  EXPECT_TRUE(reporter.flush(1s));
}

}  // namespace
}  // namespace forebay::launch
