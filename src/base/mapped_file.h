// The first bytes of a file as memory that all processes share.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"

namespace forebay {

class MappedFile {
 public:
  MappedFile() : data_(nullptr, Unmap{}) {}
  static Result<MappedFile> of(int file, std::size_t bytes, int protection, const std::string& path_for_errors) {
    MappedFile mapped;
    if (bytes == 0) return mapped;
    void* address = ::mmap(nullptr, bytes, protection, MAP_SHARED, file, 0);
    if (address == MAP_FAILED) return errno_error("cannot map", path_for_errors);
    mapped.data_ = {static_cast<std::byte*>(address), Unmap{bytes}};
    return mapped;
  }
  std::span<std::byte> bytes() const { return {data_.get(), data_.get_deleter().bytes}; }

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* data) const { ::munmap(data, bytes); }
  };
  std::unique_ptr<std::byte, Unmap> data_;
};

}  // namespace forebay
