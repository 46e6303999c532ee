#include "base/priority.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

namespace forebay {
namespace {

int niceness() {
  return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
}

TEST(GiveWay, IsOfTheThreadAndThoseThatItStarts) {
  const int before = niceness();
  int lowered = 0, of_started = 0;
  std::thread([&] {
    give_way();
    lowered = niceness();
    std::thread([&] { of_started = niceness(); }).join();
  }).join();
  EXPECT_EQ(lowered, 19);
  EXPECT_EQ(of_started, 19);
  EXPECT_EQ(niceness(), before);
}

}  // namespace
}  // namespace forebay
