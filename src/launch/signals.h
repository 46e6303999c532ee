// Signals that come when they are asked for, instead of interrupting.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>
#include <initializer_list>
#include <optional>

#include "base/base.h"

namespace forebay::launch {

// Blocks them for the calling thread as long as it lives; what has come by its end and was not asked for is dropped.
// Children are told of (SIGCHLD has its default disposition from then on), which they would not be where this process
// was started with SIGCHLD ignored.
class WatchedSignals {
 public:
  explicit WatchedSignals(std::initializer_list<int> signals);
  ~WatchedSignals();
  WatchedSignals(const WatchedSignals&) = delete;
  WatchedSignals& operator=(const WatchedSignals&) = delete;

  // Watches no longer: to be called in a child.
  void restore();
  // The next one; nothing where none comes within the time (negative: however long that takes).
  std::optional<signalfd_siginfo> next(std::chrono::milliseconds at_most) const;

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

}  // namespace forebay::launch
