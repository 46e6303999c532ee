// The tiers' threads, and what they are made of.
#pragma once

#include <pthread.h>

#include <csignal>

#include "base/mutex.h"

#if defined(FOREBAY_SCHEDULED)
#include "store/trajectory/tests/schedules/scheduled.h"
#else
#include <condition_variable>
#include <mutex>
#include <thread>
#endif

namespace forebay::trajectory {

#if defined(FOREBAY_SCHEDULED)
using scheduled::Condition, scheduled::Thread;
using Mutex = Guard<scheduled::Mutex>;
#else
using Condition = std::condition_variable;
using Mutex = Guard<std::mutex>;
using Thread = std::thread;
#endif

// The program's signals are for its own threads: a thread that is started while this lives gets none.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace forebay::trajectory
