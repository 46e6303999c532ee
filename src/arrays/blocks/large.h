// Vectors of many numbers that are all written before they are read: nothing is filled with zeros first, and pages are
// huge ones where the system has them. Making small pages costs several times what is then done with them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "base/base.h"

namespace forebay::blocks {

template <class T>
class LargeAllocator {
 public:
  using value_type = T;
  LargeAllocator() = default;
  template <class U>
  explicit LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kHugePage) return static_cast<T*>(::operator new(bytes));
    void* at = std::aligned_alloc(kHugePage, (bytes + kHugePage - 1) & ~(kHugePage - 1));
    if (at == nullptr) throw std::bad_alloc();
    ::madvise(at, bytes, MADV_HUGEPAGE);  // advice only
    return static_cast<T*>(at);
  }
  void deallocate(T* at, std::size_t count) {
    if (count * sizeof(T) < kHugePage) {
      ::operator delete(at);
    } else {
      std::free(at);
    }
  }
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
  }
  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }
};

template <class T>
using Large = std::vector<T, LargeAllocator<T>>;

}  // namespace forebay::blocks
