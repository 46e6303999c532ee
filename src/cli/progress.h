// One line of progress on a terminal, a plain line now and then elsewhere.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launch/report.h"

namespace forebay::cli {

class Progress {
 public:
  explicit Progress(bool quiet);
  // Draws while nodes stage or drain; while programs run the terminal is theirs.
  void show(const std::vector<launch::NodeReport>& nodes);
  // Takes the line away.
  void clear();

 private:
  bool quiet_, terminal_, drawn_ = false;
  std::chrono::steady_clock::time_point last_plain_;
};

// "draining  12 of 40 files  [####......]  1.2 GB"
std::string progress_line(const std::vector<launch::NodeReport>& nodes);

}  // namespace forebay::cli
