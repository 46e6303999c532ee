// Signals that come when they are asked for, instead of interrupting.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <initializer_list>
#include <optional>

#include "base/base.h"
#include "base/clock.h"

namespace forebay::launch {

// Blocks them for the calling thread until restore(), or its end: what comes when the work is done must not change the
// process's status, nor SIGPIPE of a pipe that is no longer needed. Children are told of (SIGCHLD has its default
// disposition from then on), which they would not be where this process was started with SIGCHLD ignored.
class WatchedSignals {
 public:
  WatchedSignals(std::initializer_list<int> signals, Clock& clock);
  WatchedSignals(const WatchedSignals&) = delete;
  WatchedSignals& operator=(const WatchedSignals&) = delete;

  // To be called in a child, which has them as this process had before.
  void restore();
  // The next one; nothing where none comes within the time (negative: however long that takes).
  std::optional<signalfd_siginfo> next(std::chrono::milliseconds at_most) const;

 private:
  Clock& clock_;
  sigset_t before_{};
  Descriptor descriptor_;
};

}  // namespace forebay::launch
