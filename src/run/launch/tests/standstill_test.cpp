// The text that people read about programs that are held back.
#include "run/launch/standstill.h"

#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

TEST(StandstillTextTest, NamesThePoolAndWhatMakesRoom) {
  Standstill standstill{.pool = "/dev/shm", .held_bytes = 95'000'000, .budget = 100'000'000, .limit = 100'000'000};
  standstill.units = 12;
  EXPECT_EQ(to_text(standstill),
            "the program waits for room in its pool: /dev/shm holds 95.0 MB of 100 MB; 12 entries are to be "
            "carried to the "
            "case");
  standstill.units = 1;
  standstill.failure = "cannot write /case/1/U: No space left on device";
  EXPECT_EQ(to_text(standstill),
            "the program waits for room in its pool: /dev/shm holds 95.0 MB of 100 MB; 1 entry is to be carried "
            "to the "
            "case; the last attempt failed: cannot write /case/1/U: No space left on device");
}

TEST(StandstillTextTest, SaysWhenOthersHaveTakenTheSpace) {
  const Standstill standstill{.pool = "/dev/shm", .held_bytes = 17'000'000, .budget = 100'000'000, .limit = 18'000'000};
  EXPECT_EQ(
      to_text(standstill),
      "the program waits for room in its pool: /dev/shm holds 17.0 MB, and others leave it 18.0 MB of its budget of "
      "100 MB; nothing in it can be carried to the case yet");
}

TEST(StandstillTextTest, SaysWhenTheProgramWasLetGo) {
  const Standstill standstill{
      .pool = "/dev/shm", .held_bytes = 99'000'000, .budget = 100'000'000, .limit = 100'000'000, .let_go = true};
  EXPECT_TRUE(to_text(standstill).starts_with("the program goes on with a full pool")) << to_text(standstill);
}

}  // namespace
}  // namespace forebay::launch
