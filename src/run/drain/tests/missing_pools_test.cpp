// Proves: when a dead run lacks some of its pools, the files in the others come home. Messages name what is missing,
// and nothing goes from the case. A pool that is only not mounted is not called emptied.
#include <gtest/gtest.h>

#include <filesystem>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

class MissingPool : public DrainTest {
 protected:
  void run() {
    two_pools_ = true;
    settings_.live = false;
    open();
    write_time("1");
    write(tree() + "/post/x", "of the tree");
    std::filesystem::remove(tree() + "/doomed");
    rounds();
    drain_.reset();
    std::filesystem::rename(pool_ + "/s1", pool_ + "/away");
  }

  std::string resumed(std::optional<Code> trouble) {
    resume();
    const DrainReport report = finish(false);
    EXPECT_EQ(report.trouble, trouble);
    std::string messages;
    for (const std::string& each : report.messages) messages += each + "\n";
    return messages;
  }

  void expect_the_rest_at_home() {
    EXPECT_EQ(content(case_ + "/post/x"), "of the tree");
    EXPECT_TRUE(on_case("processor0/1/p"));
    EXPECT_FALSE(on_case("processor1/1"));
    EXPECT_TRUE(on_case("processor1/constant/points")) << "an input";
    EXPECT_TRUE(on_case("doomed")) << "nothing is removed before all is home";
    EXPECT_FALSE(std::filesystem::exists(pool_ + "/s1")) << "nothing is made where the pool was";
  }
};

TEST_F(MissingPool, ThatIsNotMountedKeepsWhatItHasForTheNextResume) {
  run();
  devices_[pool_ + "/s1"] = 0;
  for (int again = 0; again < 2; ++again) {
    const std::string messages = resumed(Code::undrained);
    EXPECT_NE(messages.find("not mounted"), std::string::npos) << messages;
    EXPECT_NE(messages.find("processor1/"), std::string::npos) << messages;
    EXPECT_EQ(messages.find("emptied"), std::string::npos) << messages;
    expect_the_rest_at_home();
  }
  std::filesystem::rename(pool_ + "/away", pool_ + "/s1");
  EXPECT_EQ(resumed(std::nullopt), "");
  EXPECT_TRUE(on_case("processor1/1/p"));
  EXPECT_FALSE(on_case("doomed"));
}

TEST_F(MissingPool, ThatWasEmptiedIsLostAndTheRestComesHome) {
  run();
  const std::string messages = resumed(Code::lost);
  EXPECT_NE(messages.find("emptied"), std::string::npos) << messages;
  EXPECT_NE(messages.find("processor1/"), std::string::npos) << messages;
  expect_the_rest_at_home();
}

TEST_F(MissingPool, OfWhichTheSentinelAloneIsGoneGivesWhatItHas) {
  run();
  std::filesystem::rename(pool_ + "/away", pool_ + "/s1");
  std::filesystem::remove(pool_ + "/s1/" + sentinel_name);
  EXPECT_NE(resumed(Code::lost).find("emptied"), std::string::npos);
  EXPECT_TRUE(on_case("processor1/1/p"));
}

}  // namespace
}  // namespace forebay::drain
