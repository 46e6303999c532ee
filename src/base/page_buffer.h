// Memory that files are read into, from a page boundary on. Memory that malloc gives for large sizes starts 16 bytes
// after one, and to where no cache line starts the kernel copies half as fast (measured on AMD EPYC with Linux 6.18).
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace forebay {

class PageBuffer {
 public:
  // Not initialised. Throws std::bad_alloc.
  explicit PageBuffer(std::size_t bytes) : data_(new (kPage) std::byte[bytes]), size_(bytes) {}
  std::span<std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  static constexpr std::align_val_t kPage{4096};
  struct Delete {
    void operator()(std::byte* data) const { ::operator delete[](data, kPage); }
  };
  std::unique_ptr<std::byte[], Delete> data_;
  std::size_t size_;
};

}  // namespace forebay
