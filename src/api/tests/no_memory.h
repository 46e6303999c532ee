// Calls in a process that can have no more memory.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "forebay/status.h"

namespace forebay::api {

// So that whoever is called next needs no more memory for it. (Not in its caller: what that calls lies below.)
__attribute__((noinline)) inline void grow_stack() {
  volatile char stack[256 << 10];
  for (std::size_t at = 0; at < sizeof stack; at += 1024) stack[at] = 0;
}

// Until nothing can be allocated, however small.
inline void take_all_memory() {
  (void)forebay_error_get_text();  // the first use of the thread's last error needs memory, too
  grow_stack();
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_AS, &none);
  void* volatile taken = nullptr;
  const auto take = [&](std::size_t bytes) {
    do {
      taken = std::malloc(bytes);
    } while (taken != nullptr);
  };
  for (std::size_t bytes = std::size_t{1} << 20; bytes > 4096; bytes /= 2) take(bytes);
  for (std::size_t bytes = 4096; bytes > 0; bytes -= 16) take(bytes);
}

// How a child ended: the exit status that `work` gave, or minus the signal.
template <class Work>
int without_memory(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    take_all_memory();
    ::_exit(work());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace forebay::api
