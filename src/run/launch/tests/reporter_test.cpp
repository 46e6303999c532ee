#include "run/launch/reporter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

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
  // Whether it hears anything meanwhile.
  static bool hears(Reporter& reporter, std::chrono::milliseconds at_most) {
    for (const auto until = std::chrono::steady_clock::now() + at_most; std::chrono::steady_clock::now() < until;) {
      if (reporter.heard()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }

  ReporterTest() {
    char pattern[] = "/tmp/forebay-reporter-XXXXXX";
    directory_ = mkdtemp(pattern);
    own_ = join(directory_, "node-a.json");
    other_ = join(directory_, "node-b.json");
  }
  ~ReporterTest() override { std::filesystem::remove_all(directory_); }

  std::string directory_, own_, other_;
};

TEST_F(ReporterTest, AReportTakesThePlaceOfALongerOneThatLayThereBefore) {
  write(own_, to_json(report_of(std::string(5000, 'x'), 1)));
  Reporter reporter(own_);
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
  Reporter reporter(own_);
  reporter.listen(5ms, true);
  EXPECT_TRUE(hears(reporter, 10s));
  reporter.stop_listening();
  EXPECT_FALSE(hears(reporter, 200ms));
  reporter.listen(5ms, false);
  EXPECT_TRUE(hears(reporter, 10s));
}

}  // namespace
}  // namespace forebay::launch
