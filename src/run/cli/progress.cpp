#include "run/cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/say.h"
#include "run/launch/agreement.h"
#include "run/launch/job.h"

namespace forebay::cli {
namespace {

constexpr int bar_width = 24;
constexpr std::chrono::seconds plain_interval(30), failure_interval(1);

std::string bar(double share) {
  const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * bar_width);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(bar_width - full), '.') + "]";
}

}  // namespace

Progress::Progress(bool quiet, Clock& clock, bool program_prints_here)
    : quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) != 0),
      program_prints_here_(program_prints_here),
      clock_(clock),
      last_plain_(clock.now()),
      standing_(terminal_) {}

std::string progress_line(std::string_view doing, std::uint64_t done, std::uint64_t all) {
  const double share = all == 0 ? 0 : static_cast<double>(done) / static_cast<double>(all);
  return fmt::format("{}  {} {} of {}", doing, bar(share), human_bytes(done), human_bytes(all));
}

bool Progress::both_are_one_terminal() {
  struct stat out {
  }, err{};
  return ::isatty(STDOUT_FILENO) != 0 && ::fstat(STDOUT_FILENO, &out) == 0 && ::fstat(STDERR_FILENO, &err) == 0 &&
         out.st_rdev == err.st_rdev;
}

std::string progress_line(const std::vector<launch::NodeReport>& nodes, int all_ranks) {
  std::string waits_for;
  std::uint64_t copied = 0, to_copy = 0, queued = 0;
  bool staging = false, running = false, draining = false;
  for (const launch::NodeReport& node : nodes) {
    staging = staging || node.phase == launch::Phase::staging;
    running = running || node.phase == launch::Phase::running;
    draining = draining || node.phase == launch::Phase::draining || node.phase == launch::Phase::removing;
    if (!node.waits.for_writers.empty()) waits_for = "; waits, since " + printable(node.waits.for_writers.front());
    copied += node.staged.copied_bytes;
    to_copy += node.staged.copy_bytes_in_all;
    queued += node.queued_units;
  }
  if (staging) return progress_line("staging ", copied, to_copy);
  if (running) return "running   " + launch::running_text(launch::job_of(nodes, all_ranks));
  if (!draining) return {};
  const drain::Carried shared = launch::amounts_of(nodes).shared;
  const std::string part = launch::draining_text(launch::job_of(nodes, all_ranks));
  return fmt::format("draining  {}{}{} in {} on the case, {} to go{}", part, part.empty() ? "" : "; ",
                     human_bytes(shared.bytes), plural(shared.files, "file"), queued, waits_for);
}

// A case that takes nothing is told once, as soon as it is no matter of a moment.
void Progress::tell_failure(const std::vector<launch::NodeReport>& nodes) {
  const auto fails = [](const launch::NodeReport& node) {
    return node.phase == launch::Phase::draining && !node.waits.for_case.empty();
  };
  const auto node = std::ranges::find_if(nodes, fails);
  if (node == nodes.end()) {
    fails_since_.reset();
    return;
  }
  if (!fails_since_) fails_since_ = clock_.now();
  if (told_failure_ || clock_.now() - *fails_since_ < failure_interval) return;
  told_failure_ = true;
  clear();
  say(stderr, "forebay: the case takes nothing: {}; this is tried again for as long as drain.patience allows\n",
      printable(node->waits.for_case));
}

// A user who is told at once still knows why she has changed the case under the program.
void Progress::tell_conflicts(const std::vector<launch::NodeReport>& nodes) {
  for (const launch::NodeReport& node : nodes) {
    if (node.phase != launch::Phase::running || node.drain.trouble != Code::conflict) continue;
    for (const std::string& message : node.drain.messages) {
      if (!told_conflicts_.insert(message).second) continue;
      clear();
      say(stderr, "forebay: {}\n", printable(message));
    }
  }
}

void Progress::show(const std::vector<launch::NodeReport>& nodes, int all_ranks) {
  if (quiet_) return;
  tell_conflicts(nodes);
  tell_failure(nodes);
  if (const auto line = standing_.next(nodes, clock_.now())) {
    clear();
    say(stderr, "forebay: {}\n", *line);
  }
  const std::string line = progress_line(nodes, all_ranks);
  const bool runs = std::ranges::any_of(nodes, [](const auto& node) { return node.phase == launch::Phase::running; });
  if (!runs || !program_prints_here_) return show(line);
  clear();
  plain(line);
}

void Progress::show(const std::string& line) {
  if (quiet_) return;
  if (line.empty()) return clear();
  if (terminal_) {
    // A line that is wrapped could not be drawn over.
    winsize size{};
    const bool told = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const std::string text = "forebay: " + line;
    say(stderr, "\r\033[K{}", text.substr(0, told ? size.ws_col - 1U : std::string::npos));
    std::fflush(stderr);
    drawn_ = true;
    return;
  }
  plain(line);
}

void Progress::plain(const std::string& line) {
  const auto now = clock_.now();
  if (now - last_plain_ < plain_interval) return;
  last_plain_ = now;
  say(stderr, "forebay: {}\n", line);
}

void Progress::clear() {
  if (!drawn_) return;
  say(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace forebay::cli
