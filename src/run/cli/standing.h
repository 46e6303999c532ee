// Lines for a terminal about programs that are held back: a line when it begins, when it has another reason, and when
// it ends. Pure: who calls it reads the clock and prints.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "run/launch/report.h"

namespace forebay::cli {

class StandingLines {
 public:
  // Where there is no terminal a line comes every 30 s at most, and comes again as long as programs are held back.
  explicit StandingLines(bool terminal) : terminal_(terminal) {}
  // The line that is due now, as the nodes tell.
  std::optional<std::string> next(const std::vector<launch::NodeReport>& nodes, Clock::time_point now);

 private:
  bool terminal_;
  std::optional<launch::Standstill> told_;
  std::optional<Clock::time_point> told_at_;
};

}  // namespace forebay::cli
