#include "run/launch/signals.h"

#include <unistd.h>

namespace forebay::launch {

WatchedSignals::WatchedSignals(std::initializer_list<int> signals, Clock& clock) : clock_(clock) {
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int signal : signals) ::sigaddset(&watched, signal);
  ::sigprocmask(SIG_BLOCK, &watched, &before_);
  ::signal(SIGCHLD, SIG_DFL);
  descriptor_ = Descriptor(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

void WatchedSignals::restore() {
  descriptor_.reset();
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<signalfd_siginfo> WatchedSignals::next(std::chrono::milliseconds at_most) const {
  pollfd wait{descriptor_.get(), POLLIN, 0};
  clock_.poll({&wait, 1}, at_most);
  signalfd_siginfo got{};
  if (::read(descriptor_.get(), &got, sizeof got) != static_cast<ssize_t>(sizeof got)) return std::nullopt;
  return got;
}

}  // namespace forebay::launch
