// One line of progress on a terminal, a plain line now and then elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "run/cli/standing.h"
#include "run/launch/report.h"

namespace forebay::cli {

// "draining  12 of 40 files  [####......]  1.2 GB"
std::string progress_line(const std::vector<launch::NodeReport>& nodes);
// "writing  [####......] 1.2 GB of 3 GB"
std::string progress_line(std::string_view doing, std::uint64_t done, std::uint64_t all);

class Progress {
 public:
  // Where there is no terminal, a plain line comes every 10 s at most, the first one so long after the start.
  Progress(bool quiet, Clock& clock);
  // Draws while nodes stage or drain. While programs run the terminal is theirs: lines tell only that they are held
  // back.
  void show(const std::vector<launch::NodeReport>& nodes);
  // Nothing to tell: takes the line away.
  void show(const std::string& line);
  // Takes the line away.
  void clear();

 private:
  void tell_failure(const std::vector<launch::NodeReport>& nodes);

  bool quiet_, terminal_, drawn_ = false;
  Clock& clock_;
  Clock::time_point last_plain_;
  StandingLines standing_;
  std::optional<Clock::time_point> fails_since_;  // some node cannot bring home what it has
  bool told_failure_ = false;
};

}  // namespace forebay::cli
