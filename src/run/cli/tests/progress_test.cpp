#include "run/cli/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

#include "base/tests/hand_clock.h"

namespace forebay::cli {
namespace {

using std::chrono::seconds;

launch::NodeReport node_in(launch::Phase phase) {
  launch::NodeReport node;
  node.phase = phase;
  node.staged.copied_bytes = 500'000;
  node.staged.copy_bytes_in_all = 1'000'000;
  node.queued_units = 3;
  node.drain.amounts.shared.files = 12;
  node.drain.amounts.shared.bytes = 1'000'000;
  return node;
}

TEST(ProgressLine, StagingIsABarOfWhatIsCopiedOverAllNodes) {
  const auto node = node_in(launch::Phase::staging);
  EXPECT_EQ(progress_line({node, node}), "staging   [############............] 1.00 MB of 2.00 MB");
}

TEST(ProgressLine, DrainingTellsWhatIsOnTheCaseAndWhatIsToGo) {
  const auto node = node_in(launch::Phase::draining);
  EXPECT_EQ(progress_line({node, node}), "draining  2.00 MB in 24 files on the case, 6 to go");
}

TEST(ProgressLine, WhileTheProgramRunsItTellsWhatIsWrittenSafeAndWaiting) {
  auto node = node_in(launch::Phase::running);
  EXPECT_EQ(progress_line({node}), "running   no time written yet; safe: no time yet; nothing waits");
  node.drain.standing.newest_begun = "0.5";
  node.drain.newest_safe = "0.4";
  node.drain.standing.only_local = {24, 3'100'000, 12};
  node.pool.held_bytes = 3'400'000;
  node.pool.may_hold = 10'000'000;
  EXPECT_EQ(progress_line({node}),
            "running   writes time 0.5; safe: time 0.4; 3.10 MB in 24 files wait; pool 34 % of 10.0 MB");
}

TEST(ProgressLine, DrainingTellsPartRateAndTimeLeftWhereTheyAreKnown) {
  auto node = node_in(launch::Phase::draining);
  node.lasted.carried_before_drain = 400'000;
  node.lasted.drain_seconds = 2;
  node.drain.standing.only_local = {3, 900'000, 12};
  EXPECT_EQ(progress_line({node}),
            "draining  40 % of 1.50 MB, 300 kB/s, 3 s left; 1.00 MB in 12 files on the case, 3 to go");
}

TEST(ProgressLine, ABarStaysWithinItsBoundsAndNothingToDoIsNotDone) {
  EXPECT_EQ(progress_line("writing", 3, 2), "writing  [########################] 3 B of 2 B");
  EXPECT_EQ(progress_line("writing", 0, 0), "writing  [........................] 0 B of 0 B");
}

// The text on standard error where that is no terminal.
std::string on_a_file(const std::function<void()>& draw) {
  testing::internal::CaptureStderr();
  draw();
  return testing::internal::GetCapturedStderr();
}

// And where it is one.
std::string on_a_terminal(const std::function<void()>& draw) {
  int ours = -1, terminal = -1;
  EXPECT_EQ(::openpty(&ours, &terminal, nullptr, nullptr, nullptr), 0);
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(terminal, STDERR_FILENO);
  draw();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  char text[4096];
  EXPECT_EQ(::write(terminal, "<end>", 5), 5);  // or reading would wait where nothing was drawn
  std::string seen;
  while (!seen.ends_with("<end>")) {
    const ssize_t count = ::read(ours, text, sizeof text);
    if (count <= 0) break;
    seen.append(text, static_cast<std::size_t>(count));
  }
  ::close(terminal);
  ::close(ours);
  return seen.substr(0, seen.find("<end>"));
}

TEST(Progress, OnATerminalTheLineIsDrawnOverAndTakenAway) {
  const std::string seen = on_a_terminal([] {
    Progress progress(false, real_clock());
    progress.show("first");
    progress.show("second");
    progress.show("");
    progress.clear();  // nothing more to take away
  });
  EXPECT_EQ(seen, "\r\033[Kforebay: first\r\033[Kforebay: second\r\033[K");
}

TEST(Progress, ElsewherePlainLinesComeNowAndThen) {
  const std::string seen = on_a_file([] {
    HandClock clock;
    Progress progress(false, clock);
    clock.move(seconds(29));
    progress.show("too early");
    clock.move(seconds(1));
    progress.show("first");
    clock.move(seconds(29));
    progress.show("at once");
    progress.show("");
    clock.move(seconds(1));
    progress.show("second");
    progress.clear();
  });
  EXPECT_EQ(seen, "forebay: first\nforebay: second\n");
}

TEST(Progress, OnATerminalThatTheProgramPrintsToPlainLinesComeUntilItHasEnded) {
  const std::string seen = on_a_terminal([] {
    HandClock clock;
    Progress progress(false, clock, true);
    progress.show(std::vector{node_in(launch::Phase::running)});
    clock.move(seconds(30));
    progress.show(std::vector{node_in(launch::Phase::running)});
    progress.show(std::vector{node_in(launch::Phase::running)});
    progress.show(std::vector{node_in(launch::Phase::draining)});
    progress.clear();
  });
  EXPECT_EQ(seen,
            "forebay: running   no time written yet; safe: no time yet; nothing waits\r\n"
            "\r\033[Kforebay: draining  1.00 MB in 12 files on the case, 3 to go\r\033[K");
}

TEST(Progress, ALineIsCutToTheTerminalsWidth) {
  const std::string seen = on_a_terminal([] {
    const winsize size{24, 20, 0, 0};
    ASSERT_EQ(::ioctl(STDERR_FILENO, TIOCSWINSZ, &size), 0);
    Progress(false, real_clock()).show(std::string("0123456789abcdef"));
  });
  EXPECT_EQ(seen, "\r\033[Kforebay: 0123456789");
}

TEST(Progress, AConflictIsToldOnceAndWhileTheProgramWorks) {
  launch::NodeReport node = node_in(launch::Phase::running);
  node.drain.messages = {"changed on the case during the run: STOP"};
  const std::string seen = on_a_file([&] {
    HandClock clock;
    Progress progress(false, clock);
    progress.show(std::vector{node});
    node.drain.trouble = Code::conflict;
    progress.show(std::vector{node});
    progress.show(std::vector{node});
  });
  EXPECT_EQ(seen, "forebay: changed on the case during the run: STOP\n");
}

TEST(Progress, QuietSaysNothingAnywhere) {
  const auto draw = [] {
    HandClock clock;
    Progress progress(true, clock);
    clock.move(seconds(30));
    progress.show("a line");
    progress.show({node_in(launch::Phase::staging)});
    progress.clear();
  };
  EXPECT_EQ(on_a_file(draw), "");
  EXPECT_EQ(on_a_terminal(draw), "");
}

}  // namespace
}  // namespace forebay::cli
