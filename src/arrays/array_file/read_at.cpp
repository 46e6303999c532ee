#include "arrays/array_file/read_at.h"

#include <unistd.h>

#include <cerrno>

#include "arrays/array_file/pieces.h"

namespace forebay::array_file {

Status read_at(int file, std::uint64_t offset, std::span<std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read", path);
    if (got == 0) return error(Code::lost, "cut off:", path);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<std::vector<std::uint32_t>> read_checks(int file, const std::string& path, const Array& array) {
  std::vector<std::uint32_t> checks(pieces_of(array.bytes()));
  const auto bytes = std::as_writable_bytes(std::span(checks));
  if (auto ok = read_at(file, array.checks_offset, bytes, path); !ok) return forward(ok);
  return checks;
}

}  // namespace forebay::array_file
