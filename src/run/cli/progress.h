// One line of progress on a terminal, a plain line now and then elsewhere.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "run/cli/standing.h"
#include "run/launch/report.h"

namespace forebay::cli {

// "running  writes time 0.5; safe: time 0.4; ..." or "draining  62 % of 1.90 GB, ...". `all_ranks`: of the run; 0: not
// known.
std::string progress_line(const std::vector<launch::NodeReport>& nodes, int all_ranks = 0);
// "writing  [####......] 1.2 GB of 3 GB"
std::string progress_line(std::string_view doing, std::uint64_t done, std::uint64_t all);

class Progress {
 public:
  // Where there is no terminal, a plain line comes every 30 s at most, the first one so long after the start.
  // `program_prints_here`: what the program prints goes to that terminal, too. A line that is drawn over would be in
  // its way, so plain lines come there as well while the program runs.
  Progress(bool quiet, Clock& clock, bool program_prints_here = false);
  // `all_ranks`: of the run; 0: not known.
  void show(const std::vector<launch::NodeReport>& nodes, int all_ranks = 0);
  // Nothing to tell: takes the line away.
  void show(const std::string& line);
  // Takes the line away.
  void clear();
  // Standard output is the terminal that standard error is.
  static bool both_are_one_terminal();

 private:
  void tell_failure(const std::vector<launch::NodeReport>& nodes);
  void tell_conflicts(const std::vector<launch::NodeReport>& nodes);
  void plain(const std::string& line);

  bool quiet_, terminal_, program_prints_here_, drawn_ = false;
  Clock& clock_;
  Clock::time_point last_plain_;
  StandingLines standing_;
  std::optional<Clock::time_point> fails_since_;  // some node cannot bring home what it has
  bool told_failure_ = false;
  std::set<std::string> told_conflicts_;
};

}  // namespace forebay::cli
