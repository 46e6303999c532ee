#include "arrays/blocks/standard_file.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace forebay::blocks {
namespace {

constexpr std::size_t kPiece = std::size_t{8} << 20;

}  // namespace

Status StandardFile::go_to(std::uint64_t offset) {
  if (!file_) {
    file_.reset(std::fopen(path_.c_str(), access_ == Access::read ? "rbe" : "r+be"));
    if (!file_) return errno_error("cannot open", path_);
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // blocks are large; a buffer would only copy them
  }
  if (::fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0) return errno_error("cannot seek in", path_);
  return {};
}

Status StandardFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  if (auto ok = go_to(offset); !ok) return ok;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    if (std::fwrite(piece.data(), 1, piece.size(), file_.get()) != piece.size())
      return errno_error("cannot write", path_);
    begin_writing_back(::fileno(file_.get()), offset + at, piece.size());
  }
  return {};
}

Status StandardFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
  if (bytes.empty()) return {};
  if (auto ok = go_to(offset); !ok) return ok;
  if (std::fread(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return {};
  if (std::feof(file_.get()) != 0) return error(Code::lost, "cut off:", path_);
  return errno_error("cannot read", path_);
}

Status StandardFile::close() {
  if (!file_) return {};
  if (access_ == Access::write && ::fsync(::fileno(file_.get())) != 0) return errno_error("cannot sync", path_);
  if (std::fclose(file_.release()) != 0) return errno_error("cannot close", path_);
  return {};
}

}  // namespace forebay::blocks
