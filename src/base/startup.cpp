#include "base/startup.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>

namespace forebay {
namespace {

constexpr std::size_t stack_bytes = std::size_t{8} << 20, least_stack_bytes = std::size_t{1} << 20;

void open_standard_descriptors() {
  // The lowest number that is free is given.
  for (int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC); fd >= 0; fd = ::open("/dev/null", O_RDWR | O_CLOEXEC)) {
    if (fd <= STDERR_FILENO) continue;
    ::close(fd);
    return;
  }
}

struct Work {
  const std::function<int()>& work;
  sigset_t signals = {};
  int result = 0;
};

void* carry_out(void* given) {
  Work& work = *static_cast<Work*>(given);
  ::pthread_sigmask(SIG_SETMASK, &work.signals, nullptr);
  work.result = work.work();
  return nullptr;
}

}  // namespace

int with_own_surroundings(const std::function<int()>& work) {
  open_standard_descriptors();
  struct rlimit stack {};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= least_stack_bytes) return work();
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stack_bytes);
  ::pthread_setattr_default_np(&attributes);
  // All signals are that thread's.
  Work own{work};
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &own.signals);
  pthread_t thread{};
  const bool started = ::pthread_create(&thread, &attributes, carry_out, &own) == 0;
  ::pthread_attr_destroy(&attributes);
  if (!started) {
    ::pthread_sigmask(SIG_SETMASK, &own.signals, nullptr);
    return work();
  }
  ::pthread_join(thread, nullptr);
  return own.result;
}

void allow_large_files() {
  ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit size {};
  if (::getrlimit(RLIMIT_FSIZE, &size) != 0) return;
  const struct rlimit none { RLIM_INFINITY, RLIM_INFINITY };
  if (::setrlimit(RLIMIT_FSIZE, &none) == 0) return;  // root may
  size.rlim_cur = size.rlim_max;
  (void)::setrlimit(RLIMIT_FSIZE, &size);
}

}  // namespace forebay
