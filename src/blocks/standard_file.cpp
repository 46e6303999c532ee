#include "blocks/standard_file.h"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

namespace forebay::blocks {

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
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
    return errno_error("cannot write", path_);
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
