// Entry points: functions of libc that this library stands in front of, and the functions behind them.
//
// An entry has its own C++ name, so that libc's headers do not get in the way, and libc's name in the symbol table:
//   ENTRY(int, chdir, (const char* path)) { ... NEXT(chdir)(path) ... }
#pragma once

#include <atomic>

namespace forebay::redirect {

// As dlsym().
void* find_symbol(void* handle, const char* name);
// The next definition of `name` behind this library; found once, kept in `slot`.
void* next_function(std::atomic<void*>& slot, const char* name);

}  // namespace forebay::redirect

#define ENTRY_DECLARATION(result, name, arguments) \
  result entry_##name arguments __asm__(#name) __attribute__((visibility("default"), used))
#define ENTRY(result, name, arguments)        \
  ENTRY_DECLARATION(result, name, arguments); \
  result entry_##name arguments
// A second name for an entry of the same file.
#define ENTRY_ALIAS(name, other) \
  extern decltype(entry_##other) entry_##name __asm__(#name) __attribute__((alias(#other), visibility("default")))
#define NEXT(name)                                                                     \
  (reinterpret_cast<decltype(&entry_##name)>([] {                                      \
    static constinit std::atomic<void*> slot{nullptr};                                 \
    void* known = slot.load(std::memory_order_relaxed);                                \
    return known != nullptr ? known : ::forebay::redirect::next_function(slot, #name); \
  }()))
