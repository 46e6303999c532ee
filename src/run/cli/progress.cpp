#include "run/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/say.h"

namespace forebay::cli {
namespace {

constexpr int bar_width = 24;
constexpr std::chrono::seconds plain_interval(10), failure_interval(1);

std::string bar(double share) {
  const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * bar_width);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(bar_width - full), '.') + "]";
}

}  // namespace

Progress::Progress(bool quiet, Clock& clock)
    : quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) != 0),
      clock_(clock),
      last_plain_(clock.now()),
      standing_(terminal_) {}

std::string progress_line(std::string_view doing, std::uint64_t done, std::uint64_t all) {
  const double share = all == 0 ? 0 : static_cast<double>(done) / static_cast<double>(all);
  return fmt::format("{}  {} {} of {}", doing, bar(share), human_bytes(done), human_bytes(all));
}

std::string progress_line(const std::vector<launch::NodeReport>& nodes) {
  std::string waits_for;
  std::uint64_t copied = 0, to_copy = 0, queued = 0, files = 0, bytes = 0;
  bool staging = false, draining = false;
  for (const launch::NodeReport& node : nodes) {
    staging = staging || node.phase == launch::Phase::staging;
    draining = draining || node.phase == launch::Phase::draining || node.phase == launch::Phase::removing;
    if (!node.waits.for_writers.empty()) waits_for = "; waits, since " + printable(node.waits.for_writers.front());
    copied += node.staged.copied_bytes;
    to_copy += node.staged.copy_bytes_in_all;
    queued += node.queued_units;
    files += node.drain.shared.files;
    bytes += node.drain.shared.bytes;
  }
  if (staging) return progress_line("staging ", copied, to_copy);
  if (draining)
    return fmt::format("draining  {} in {} on the case, {} to go{}", human_bytes(bytes), plural(files, "file"), queued,
                       waits_for);
  return {};
}

// That the case takes nothing is told once, as soon as it is no matter of a moment.
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

void Progress::show(const std::vector<launch::NodeReport>& nodes) {
  if (quiet_) return;
  tell_failure(nodes);
  if (const auto line = standing_.next(nodes, clock_.now())) {
    clear();
    say(stderr, "forebay: {}\n", *line);
  }
  show(progress_line(nodes));
}

void Progress::show(const std::string& line) {
  if (quiet_) return;
  if (line.empty()) return clear();
  if (terminal_) {
    say(stderr, "\r\033[Kforebay: {}", line);
    std::fflush(stderr);
    drawn_ = true;
    return;
  }
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
