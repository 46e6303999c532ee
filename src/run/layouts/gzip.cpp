#include "run/layouts/gzip.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace forebay::layouts {
namespace {

constexpr int gzip_format = 16 + MAX_WBITS;  // for zlib: no bare deflate stream, and none of its own
constexpr std::size_t window = std::size_t{64} << 10;

}  // namespace

struct GzipReader::Buffers {
  std::array<Bytef, window> in, out;
};

GzipReader::GzipReader(const std::string& path) : path_(path) {}

GzipReader::~GzipReader() {
  if (opened_) ::inflateEnd(&stream_);
}

Status GzipReader::open() {
  auto file = open_file(path_, O_RDONLY | O_NOFOLLOW | O_NOATIME | O_NONBLOCK);
  if (!file) return forward(file);
  file_ = std::move(*file);
  buffers_ = std::make_unique_for_overwrite<Buffers>();
  errno = ENOMEM;
  if (::inflateInit2(&stream_, gzip_format) != Z_OK) return errno_error("cannot inflate", path_);
  opened_ = true;
  return {};
}

// Brings input; false at the end of the file.
Result<bool> GzipReader::fill() {
  if (stream_.next_in != nullptr) last_byte_ = stream_.next_in[-1];
  ssize_t got = 0;
  do {
    got = ::read(file_.get(), buffers_->in.data(), buffers_->in.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno_error("cannot read", path_);
  stream_.next_in = buffers_->in.data();
  stream_.avail_in = static_cast<uInt>(got);
  file_bytes_ += static_cast<std::uint64_t>(got);
  return got > 0;
}

Result<std::optional<std::string_view>> GzipReader::next(bool stop_at_blocks) {
  if (!opened_)
    if (auto opened = open(); !opened) return forward(opened);
  for (;;) {
    if (stream_.avail_in == 0 && !more_output_) {
      const auto filled = fill();
      if (!filled) return forward(filled);
      if (!*filled && !member_ended_) return error(Code::failed, "a compressed file that is cut off:", path_);
      if (!*filled) return std::nullopt;
    }
    if (member_ended_ && ::inflateReset(&stream_) != Z_OK) return damaged();
    stream_.next_out = buffers_->out.data();
    stream_.avail_out = static_cast<uInt>(buffers_->out.size());
    const int result = ::inflate(&stream_, stop_at_blocks ? Z_BLOCK : Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) {
      errno = ENOMEM;
      return errno_error("cannot inflate", path_);
    }
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return damaged();
    member_ended_ = result == Z_STREAM_END;
    members_ += member_ended_ ? 1 : 0;
    more_output_ = stream_.avail_out == 0 && !member_ended_;  // full: zlib may hold some back
    const std::size_t length = buffers_->out.size() - stream_.avail_out;
    if (length > 0 || between_blocks())
      return std::string_view(reinterpret_cast<const char*>(buffers_->out.data()), length);
  }
}

std::optional<GzipReader::Boundary> GzipReader::between_blocks() const {
  // The meaning of data_type: zlib.h on inflate() with Z_BLOCK.
  constexpr int stopped = 128, in_last_block = 64, unused_bits = 7;
  if ((stream_.data_type & stopped) == 0 || (stream_.data_type & in_last_block) != 0) return std::nullopt;
  const bool none_of_this = stream_.next_in == buffers_->in.data();
  return Boundary{file_bytes_ - stream_.avail_in, stream_.data_type & unused_bits,
                  none_of_this ? last_byte_ : stream_.next_in[-1]};
}

tl::unexpected<Error> GzipReader::damaged() const {
  return error(Code::failed, "no gzip file, or a damaged one:", path_);
}

Result<GzipContent> read_gzip(const std::string& path, std::size_t head_bytes) {
  GzipReader reader(path);
  GzipContent content;
  for (;;) {
    const auto found = reader.next();
    if (!found) return forward(found);
    if (!*found) return content;
    content.bytes += (*found)->size();
    content.head += (*found)->substr(0, head_bytes - content.head.size());
  }
}

void append_number(std::string& bytes, std::uint64_t number, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
}

std::string gzip_member(std::string_view text) {
  constexpr std::size_t most_in_block = 0xffff;
  std::string member(gzip_header);
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
