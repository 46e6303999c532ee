#include "segment/turn.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "segment/tests/scratch.h"

namespace forebay::segment {
namespace {

TEST(Turn, IsGivenToAFewAtATime) {
  const Scratch pool, other;
  auto first = Turn::take(pool.path(), 2);
  auto second = Turn::take(pool.path(), 2);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(Turn::take(pool.path(), 2));
  EXPECT_TRUE(Turn::take(other.path(), 2)) << "of another pool";
  first.reset();
  EXPECT_TRUE(Turn::take(pool.path(), 2));
}

TEST(Turn, OfADeadProcessIsFree) {
  const Scratch pool;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto turn = Turn::take(pool.path(), 1);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(Turn::take(pool.path(), 1));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(Turn::take(pool.path(), 1));
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace forebay::segment
