// Loaded before MPICH (LD_PRELOAD), whose ranks spin while they wait and know no way not to: here they sleep, so that
// tests with more ranks than cores take seconds. Debian 12's MPICH waits by UCX; one that waits otherwise is left as it
// is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*of_ucx)(void*) = NULL;
  static unsigned in_vain = 0;
  if (of_ucx == NULL) *(void**)&of_ucx = dlsym(dlopen("libucp.so.0", RTLD_LAZY), "ucp_worker_progress");
  const unsigned done = of_ucx(worker);
  in_vain = done != 0 ? 0 : in_vain + 1;
  const struct timespec pause = {0, 20000};
  if (in_vain > 100) nanosleep(&pause, NULL);
  return done;
}
