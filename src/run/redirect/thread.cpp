// Threads with a stack of a few pages: what the library does for a call with a path would not fit.
#include <pthread.h>

#include "run/redirect/next.h"
#include "run/redirect/oldest.h"
#include "run/redirect/state.h"

FROM_OLDEST_LIBC(pthread_attr_getstack);
FROM_OLDEST_LIBC(pthread_attr_getstacksize);
FROM_OLDEST_LIBC(pthread_attr_setstacksize);

namespace forebay::redirect {
namespace {

constexpr size_t own_part = 64 * 1024;  // the deepest of our calls takes some 58,000 bytes
constexpr size_t large_enough = 4 * own_part;

// The program gave the memory itself; glibc says so by where it ends.
bool has_own_memory(const pthread_attr_t& attributes) {
  void* place = nullptr;
  size_t size = 0;
  return pthread_attr_getstack(&attributes, &place, &size) == 0 && reinterpret_cast<uintptr_t>(place) + size != 0;
}

}  // namespace

ENTRY(int, pthread_create,
      (pthread_t * thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument)) {
  const auto next = NEXT(pthread_create);
  if (!active() || (attributes != nullptr && has_own_memory(*attributes)))
    return next(thread, attributes, function, argument);
  // The memory that the copy points to stays the program's.
  pthread_attr_t own;
  if (attributes != nullptr)
    own = *attributes;
  else if (const int failed = pthread_attr_init(&own); failed != 0)
    return failed;
  size_t size = 0;
  const bool small = pthread_attr_getstacksize(&own, &size) == 0 && size < large_enough;
  if (small) pthread_attr_setstacksize(&own, size + own_part);
  const int result = next(thread, small ? &own : attributes, function, argument);
  if (attributes == nullptr) pthread_attr_destroy(&own);
  return result;
}

}  // namespace forebay::redirect
