#include "layouts/gzip.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace forebay::layouts {
namespace {

constexpr int gzip_format = 16 + MAX_WBITS;  // for zlib: no bare deflate stream, and none of its own

constexpr std::size_t window = std::size_t{64} << 10;
struct Buffers {
  std::array<Bytef, window> in, out;
};

struct EndOfInflate {
  void operator()(z_stream* stream) const { ::inflateEnd(stream); }
};

tl::unexpected<Error> out_of_memory(const std::string& path) {
  errno = ENOMEM;
  return errno_error("cannot inflate", path);
}

void append_number(std::string& bytes, std::uint64_t number, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
}

class Reader {
 public:
  Reader(const std::string& path, std::size_t head_bytes) : path_(path), head_bytes_(head_bytes) {}

  Result<GzipContent> run() {
    auto file = open_file(path_, O_RDONLY | O_NOFOLLOW);
    if (!file) return forward(file);
    if (::inflateInit2(&stream_, gzip_format) != Z_OK) return out_of_memory(path_);
    const std::unique_ptr<z_stream, EndOfInflate> end(&stream_);
    for (;;) {
      const ssize_t got = ::read(file->get(), buffers_->in.data(), buffers_->in.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno_error("cannot read", path_);
      if (got == 0) break;
      stream_.next_in = buffers_->in.data();
      stream_.avail_in = static_cast<uInt>(got);
      if (auto taken = take(); !taken) return forward(taken);
    }
    if (!member_ended_) return error(Code::failed, "a compressed file that is cut off:", path_);
    return std::move(content_);
  }

 private:
  // Inflates all input, and all output that it gives: full output may mean that more is held back.
  Status take() {
    bool full = false;
    while (stream_.avail_in > 0 || full) {
      if (member_ended_) {
        if (::inflateReset(&stream_) != Z_OK) return damaged();
        member_ended_ = false;
      }
      stream_.next_out = buffers_->out.data();
      stream_.avail_out = static_cast<uInt>(buffers_->out.size());
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_MEM_ERROR) return out_of_memory(path_);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return damaged();
      member_ended_ = result == Z_STREAM_END;
      full = stream_.avail_out == 0 && !member_ended_;
      const std::size_t length = buffers_->out.size() - stream_.avail_out;
      const std::size_t wanted = std::min(length, head_bytes_ - content_.head.size());
      content_.head.append(buffers_->out.begin(), buffers_->out.begin() + static_cast<std::ptrdiff_t>(wanted));
      content_.bytes += length;
    }
    return {};
  }

  tl::unexpected<Error> damaged() const { return error(Code::failed, "no gzip file, or a damaged one:", path_); }

  const std::string& path_;
  const std::size_t head_bytes_;
  const std::unique_ptr<Buffers> buffers_ = std::make_unique_for_overwrite<Buffers>();
  z_stream stream_{};
  bool member_ended_ = false;
  GzipContent content_;
};

}  // namespace

Result<GzipContent> read_gzip(const std::string& path, std::size_t head_bytes) {
  return Reader(path, head_bytes).run();
}

std::string gzip_member(std::string_view text) {
  constexpr std::size_t most_in_block = 0xffff;
  std::string member("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);  // deflate; no flags, no time, from no known system
  std::string_view rest = text;
  bool last = false;
  while (!last) {
    const std::string_view block = rest.substr(0, most_in_block);
    rest.remove_prefix(block.size());
    last = rest.empty();
    member += last ? '\1' : '\0';
    append_number(member, block.size(), 2);
    append_number(member, ~block.size(), 2);
    member += block;
  }
  const uLong none = ::crc32(0, nullptr, 0);
  append_number(member, ::crc32_z(none, reinterpret_cast<const Bytef*>(text.data()), text.size()), 4);
  append_number(member, text.size(), 4);
  return member;
}

}  // namespace forebay::layouts
