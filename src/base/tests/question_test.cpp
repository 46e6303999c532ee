#include "base/question.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST(Question, is_answered_whole_by_another_process) {
  const std::string longer_than_a_pipe(1 << 20, 'x');
  EXPECT_EQ(ask([&] { return longer_than_a_pipe; }, 10s, real_clock()), longer_than_a_pipe);
  EXPECT_EQ(ask([] { return std::string(); }, 10s, real_clock()), "");
  EXPECT_NE(ask([] { return std::to_string(::getpid()); }, 10s, real_clock()), std::to_string(::getpid()));
}

TEST(Question, that_is_not_answered_in_time_is_left) {
  const auto began = real_clock().now();
  EXPECT_EQ(ask([]() -> std::string { return ::pause(), "late"; }, 50ms, real_clock()), std::nullopt);
  EXPECT_LT(real_clock().now() - began, 5s);
}

TEST(Question, whose_child_dies_has_no_answer) {
  EXPECT_EQ(ask([]() -> std::string { ::_exit(3); }, 10s, real_clock()), std::nullopt);
}

TEST(Question, leaves_nothing_open_in_the_child_but_the_way_back) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  auto question = Question::ask([]() -> std::string { return ::pause(), ""; });
  ASSERT_TRUE(question);
  out.reset();
  pollfd wait{in.get(), POLLIN, 0};
  EXPECT_EQ(real_clock().poll({&wait, 1}, 10s), 1) << "whoever reads what this process writes waits for the child";
}

}  // namespace
}  // namespace forebay
