// For libraries that LD_PRELOAD puts in front of libc: what they define, and what stands behind them.
#pragma once

#include <dlfcn.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
// The definition of `name` that this library stands in front of, looked up at the first call.
#define NEXT(name)                                              \
  static __typeof__(&name) next;                                \
  if (next == NULL) *(void**)(&next) = dlsym(RTLD_NEXT, #name); \
  if (next == NULL) abort()
