// Memory that is neither of the stack, which may be small, nor of malloc, which may not be called.
#pragma once

#include <sys/mman.h>

#include "run/redirect/system.h"

namespace forebay::redirect {

class Pages {
 public:
  static constexpr size_t size = 128 * 1024;
  Pages() : at_(system_call(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Pages() {
    if (failed() == 0) system_call(SYS_munmap, at_, size);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  int failed() const { return at_ < 0 && at_ > -4096 ? static_cast<int>(at_) : 0; }  // a negative errno, or 0
  char* bytes() const { return reinterpret_cast<char*>(at_); }

 private:
  long at_;
};

}  // namespace forebay::redirect
