#include "run/publish/turns.h"

#include <gtest/gtest.h>

namespace forebay::drain {
namespace {

constexpr Place none{}, file1{Line::files, 1}, time2{Line::times, 2}, file3{Line::files, 3}, time4{Line::times, 4};

TEST(TurnsTest, FilesWaitForAllThatIsEarlierAndTimesForTimes) {
  Turns turns;
  for (const Place& each : {file3, time4, file1, time2}) turns.join(each);
  EXPECT_TRUE(turns.is_next(none) && turns.is_next(file1) && turns.is_next(time2));
  EXPECT_FALSE(turns.is_next(file3) || turns.is_next(time4));
  turns.leave(file1);
  EXPECT_FALSE(turns.is_next(file3)) << "a time is earlier";
  turns.leave(time2);
  EXPECT_TRUE(turns.is_next(file3) && turns.is_next(time4)) << "no time waits for a file";
}

TEST(TurnsTest, WhoHasLeftWaitsForNobody) {
  Turns turns;
  turns.join(file1);
  turns.join(file3);
  turns.leave(file3);
  EXPECT_TRUE(turns.is_next(file3));
  turns.join(file3);
  EXPECT_FALSE(turns.is_next(file3));
}

}  // namespace
}  // namespace forebay::drain
