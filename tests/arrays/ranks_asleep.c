// Loaded before an MPI (LD_PRELOAD) whose ranks spin while they wait: here they sleep, so that tests with more ranks
// than cores, or beside others, take seconds. MPICH knows no way not to spin; Debian 12's waits by UCX, and one that
// waits otherwise is left as it is. Open MPI yields its core where it is told to (mpi_yield_when_idle), but on a busy
// machine the kernel soon gives it back to a rank that only yields, and the one that has work waits.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

static const struct timespec kPause = {0, 20000};

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*of_ucx)(void*) = NULL;
  static unsigned in_vain = 0;
  if (of_ucx == NULL) *(void**)&of_ucx = dlsym(dlopen("libucp.so.0", RTLD_LAZY), "ucp_worker_progress");
  const unsigned done = of_ucx(worker);
  in_vain = done != 0 ? 0 : in_vain + 1;
  if (in_vain > 100) nanosleep(&kPause, NULL);
  return done;
}

static int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// A rank that yields again within 5 us has found nothing to do meanwhile.
int sched_yield(void) {
  static _Thread_local unsigned in_vain = 0;
  static _Thread_local int64_t last = 0;
  in_vain = nanoseconds() - last > 5000 ? 0 : in_vain + 1;
  if (in_vain > 20) nanosleep(&kPause, NULL);
  last = nanoseconds();
  return 0;
}
