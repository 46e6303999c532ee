#include "segment/stream_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace forebay::segment {

// Large enough for a parallel file system, small enough to be interrupted.
constexpr std::size_t kPiece = std::size_t{8} << 20;

StreamFile::StreamFile(StoreDirectory& directory) : directory_(directory) {
  const std::string self = "/proc/self/fd/" + std::to_string(directory.segments());
  if (auto opened = open_file(self, O_RDWR | O_DIRECT)) direct_ = std::move(*opened);
}

Status StreamFile::write(std::uint64_t offset, std::span<const std::byte> bytes, bool lasting) {
  while (!bytes.empty()) {
    const int file = direct_ ? direct_.get() : directory_.segments();
    const ssize_t n = ::pwrite(file, bytes.data(), std::min(bytes.size(), kPiece), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EINVAL && direct_) {
      direct_.reset();
      continue;
    }
    if (n < 0) return errno_error("cannot write a segment to", directory_.path());
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  if (lasting && ::fdatasync(directory_.segments()) != 0) return errno_error("cannot sync", directory_.path());
  return {};
}

Status StreamFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const int file = direct_ ? direct_.get() : directory_.segments();
    const ssize_t n = ::pread(file, bytes.data(), std::min(bytes.size(), kPiece), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EINVAL && direct_) {
      direct_.reset();
      continue;
    }
    if (n < 0) return errno_error("cannot read a segment of", directory_.path());
    if (n == 0) return error(Code::lost, "a segment is cut off in", directory_.path());
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Status StreamFile::patch(std::uint64_t offset, std::span<const std::byte> bytes) {
  const ssize_t n = ::pwrite(directory_.segments(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (n != static_cast<ssize_t>(bytes.size())) return errno_error("cannot write to", directory_.path());
  return {};
}

}  // namespace forebay::segment
