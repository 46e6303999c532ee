// Large arrays of numbers that are written once, from the beginning to the end, before they are read: pages come from
// the system when they are written, huge ones where it has them, and nothing is filled with zeros first.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "base/base.h"

namespace forebay::mesh {

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  static Result<Array> make(std::size_t count) {
    Array array;
    if (count == 0) return array;
    if (count > (std::size_t{1} << 60) / sizeof(T))
      return error(Code::bad_input, "cannot get memory for an array of more than 2^60 bytes");
    const std::size_t bytes = count * sizeof(T);
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
      return errno_error("cannot get " + human_bytes(bytes) + " of memory", "", "use more parts, or stream");
    // Advice only; on refusal the pages are small.
    if (bytes >= kHugePage) ::madvise(at, bytes, MADV_HUGEPAGE);
    array.memory_ = {static_cast<T*>(at), Unmap{bytes}};
    array.count_ = count;
    return array;
  }

  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  std::span<const T> all() const { return {data(), count_}; }

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(T* at) const { ::munmap(at, bytes); }
  };
  std::unique_ptr<T, Unmap> memory_;
  std::size_t count_ = 0;
};

}  // namespace forebay::mesh
