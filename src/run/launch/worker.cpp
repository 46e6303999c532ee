#include "run/launch/worker.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "base/say.h"

namespace forebay::launch {
namespace {

std::optional<int> ended(pid_t worker) {
  int status = 0;
  pid_t got = 0;
  while ((got = ::waitpid(worker, &status, WNOHANG)) < 0 && errno == EINTR) {
  }
  return got == worker ? std::optional(status) : std::nullopt;
}

}  // namespace

Watched watch_worker(pid_t worker, const Pulse& pulse, Bounds bounds, const std::function<bool()>& counts,
                     const WatchedSignals& signals, const std::function<bool(const signalfd_siginfo&)>& leaves,
                     Clock& clock) {
  std::chrono::milliseconds same{0}, same_call{0};
  auto last = pulse.look();
  auto next_look = clock.now() + look_interval;
  for (;;) {
    if (const auto status = ended(worker)) return {Watched::End::ended, *status, {}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_look - clock.now());
    const auto signal = signals.next(std::max(left, std::chrono::milliseconds(0)));
    if (signal && signal->ssi_signo != SIGCHLD && leaves(*signal)) return {Watched::End::left, 0, last.path};
    if (clock.now() < next_look) continue;
    next_look = clock.now() + look_interval;
    auto now = pulse.look();
    const auto longer = [&](bool unchanged, std::chrono::milliseconds before) {
      return unchanged && counts() && !now.rests ? before + look_interval : std::chrono::milliseconds(0);
    };
    same = longer(now == last, same);
    same_call = longer(now.call == last.call && now.call != 0, same_call);
    last = std::move(now);
    if (same_call > (last.gave_up ? call_returns_within : bounds.call) && (last.gave_up || same > bounds.call))
      return {Watched::End::hangs, 0, last.path};
    if (same > bounds.beat) return {Watched::End::silent, 0, last.path};
  }
}

bool kill_worker(pid_t worker, Clock& clock) {
  ::kill(worker, SIGKILL);
  const auto until = clock.now() + killed_ends_within;
  while (clock.now() < until) {
    if (ended(worker)) return true;
    clock.sleep(std::chrono::milliseconds(20));
  }
  return false;
}

int do_watched(const std::function<int()>& work, Bounds bounds, const std::string& said, Clock& clock) {
  auto pulse = Pulse::make();
  if (!pulse) return work();
  WatchedSignals signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}, clock);
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), worker = ::fork();
  if (worker < 0) {
    signals.restore();
    return work();
  }
  if (worker == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(static_cast<int>(Code::undrained));
    signals.restore();
    pulse->tell_calls();
    const int status = work();
    std::fflush(nullptr);
    ::_exit(status);
  }
  int told = 0;
  const auto twice = [&](const signalfd_siginfo& signal) {
    // A signal from the terminal reaches the worker by itself.
    if (signal.ssi_code <= 0) ::kill(worker, static_cast<int>(signal.ssi_signo));
    return ++told > 1;
  };
  const Watched watched = watch_worker(
      worker, *pulse, bounds, [] { return true; }, signals, twice, clock);
  if (watched.end == Watched::End::ended)
    return WIFEXITED(watched.status) ? WEXITSTATUS(watched.status) : 128 + WTERMSIG(watched.status);
  (void)kill_worker(worker, clock);
  say(stderr, "\nforebay: {}{}; {}\n",
      watched.end == Watched::End::left ? "told to end" : "the file system of the case does not answer",
      watched.path.empty() ? "" : ": " + printable(watched.path), said);
  return static_cast<int>(Code::undrained);
}

}  // namespace forebay::launch
