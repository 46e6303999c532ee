#include "run/redirect/next.h"

#include <dlfcn.h>
#include <errno.h>

#include <initializer_list>

#include "run/redirect/oldest.h"

FROM_OLDEST_LIBC(dlsym);
FROM_OLDEST_LIBC(dlvsym);

namespace forebay::redirect {
namespace {

// The function that is called where nothing lies behind an entry: only on a libc that lacks the function.
long missing() {
  errno = ENOSYS;
  return -1;
}

using Lookup = void* (*)(void*, const char*);

// A program may stand in front of dlsym itself; hardly one stands in front of dlvsym.
Lookup lookup() {
  static constinit std::atomic<Lookup> known{nullptr};
  Lookup found = known.load(std::memory_order_relaxed);
  if (found == nullptr) {
    for (const char* version : {"GLIBC_2.34", OLDEST_LIBC}) {
      found = reinterpret_cast<Lookup>(dlvsym(RTLD_NEXT, "dlsym", version));
      if (found != nullptr) break;
    }
    if (found == nullptr) found = dlsym;
    known.store(found, std::memory_order_relaxed);
  }
  return found;
}

}  // namespace

void* find_symbol(void* handle, const char* name) {
  return lookup()(handle, name);
}

void* next_function(std::atomic<void*>& slot, const char* name) {
  const int before = errno;
  void* found = find_symbol(RTLD_NEXT, name);
  if (found == nullptr) found = reinterpret_cast<void*>(&missing);
  slot.store(found, std::memory_order_relaxed);
  errno = before;
  return found;
}

}  // namespace forebay::redirect
