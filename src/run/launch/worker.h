// A process that touches a case, and who watches it. Where the case's server does not answer the one that watches tells
// at which path that is, and leaves: the process that waits is killed, which takes effect when the server answers.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>

#include "base/base.h"
#include "base/clock.h"
#include "base/pulse.h"
#include "run/launch/signals.h"
#include "run/settings/settings.h"

namespace forebay::launch {

// Between two looks at it, and how long one that is killed may take to end. Time is counted in looks: who was stopped
// and goes on has not waited.
inline constexpr std::chrono::milliseconds look_interval{1'000}, killed_ends_within{200};
// A call may take so long when patience with the case is over; who makes it has so long to say so by itself.
inline constexpr std::chrono::milliseconds call_returns_within{3'000}, call_grace{2'000};
// How long commands that only look at a case or tidy it wait for its server, and may work without a word.
inline constexpr std::chrono::milliseconds command_waits{10'000}, command_works{600'000};

struct Bounds {
  std::chrono::milliseconds call;  // a call to the case, while nothing else is told
  std::chrono::milliseconds beat;  // nothing at all is told
};

// The bounds for a worker that carries data to the case: a call that is known to hang is told before the silence that
// comes of it.
inline Bounds bounds_of(const settings::Settings::Drain& drain) {
  return {drain.patience + call_grace, std::max(drain.patience, drain.silence) + call_grace};
}

struct Watched {
  enum class End { ended, hangs, silent, left };
  End end = End::ended;
  int status = 0;    // of one that has ended, for wait()
  std::string path;  // where it hangs, as far as that is known
};

// Until it has ended, or one of the bounds was passed while `counts`, or `leaves` says so of a signal. `signals` have
// SIGCHLD among them.
Watched watch_worker(pid_t worker, const Pulse& pulse, Bounds bounds, const std::function<bool()>& counts,
                     const WatchedSignals& signals, const std::function<bool(const signalfd_siginfo&)>& leaves,
                     Clock& clock);

// Kills one that was left; whether it has ended within killed_ends_within.
bool kill_worker(pid_t worker, Clock& clock);

// Does `work` in a process of its own. Its value, or Code::undrained where that is left alone: `said` says what that
// means to the user. Signals are the worker's; a second one ends the waiting for it.
int do_watched(const std::function<int()>& work, Bounds bounds, const std::string& said, Clock& clock);

}  // namespace forebay::launch
