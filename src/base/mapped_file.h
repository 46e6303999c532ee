// A part of a file as memory that all processes share.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace forebay {

// The bytes that one entry of the page tables maps at once, where memory lies so: 512 pages of 4 KiB.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

class MappedFile {
 public:
  MappedFile() : data_(nullptr, Unmap{}) {}
  // A mapping larger than a huge page is aligned as the file is, so that huge pages of the file are mapped as such.
  // `offset`: a multiple of the page size.
  static Result<MappedFile> of(int file, std::uint64_t offset, std::size_t bytes, int protection,
                               const std::string& path_for_errors) {
    MappedFile mapped;
    if (bytes == 0) return mapped;
    const std::size_t room_bytes = bytes >= kHugePage ? bytes + kHugePage : bytes;
    void* room = ::mmap(nullptr, room_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return errno_error("cannot map", path_for_errors);
    auto* aligned = static_cast<std::byte*>(room);
    if (room_bytes > bytes) aligned += (offset - reinterpret_cast<std::uintptr_t>(room)) % kHugePage;
    mapped.data_ = {aligned, Unmap{bytes, room, room_bytes}};
    if (::mmap(aligned, bytes, protection, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset)) == MAP_FAILED)
      return errno_error("cannot map", path_for_errors);
    return mapped;
  }
  // A private file of so many bytes, made where there is none, whose room is taken now: none could be had by touching
  // it where the file system is full (SIGBUS).
  static Result<MappedFile> make(const std::string& path, std::size_t bytes) {
    auto file = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW);
    if (!file) return forward(file);
    if (const int failed = ::posix_fallocate(file->get(), 0, static_cast<off_t>(bytes)); failed != 0) {
      errno = failed;
      return errno_error("cannot take room for", path);
    }
    return of(file->get(), 0, bytes, PROT_READ | PROT_WRITE, path);
  }
  std::span<std::byte> bytes() const { return {data_.get(), data_.get_deleter().bytes}; }

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void* room = nullptr;
    std::size_t room_bytes = 0;
    void operator()(std::byte*) const { ::munmap(room, room_bytes); }
  };
  std::unique_ptr<std::byte, Unmap> data_;
};

}  // namespace forebay
