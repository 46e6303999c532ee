// gzip files (RFC 1952): reading them, and making members of them; private to this room.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/layouts/layouts.h"

namespace forebay::layouts {

// Inflates a file from its beginning to its end, in bounded memory. A file that is damaged, cut off, or followed by
// anything but further members is an error without errno.
class GzipReader {
 public:
  explicit GzipReader(const std::string& path);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // The next bytes of the content, good until the next call; nullopt at the end. `stop_at_blocks`: returns wherever a
  // block of the deflate stream ends, too.
  Result<std::optional<std::string_view>> next(bool stop_at_blocks = false);

  int members() const { return members_; }
  std::uint64_t file_bytes() const { return file_bytes_; }  // read so far
  // A boundary between two blocks of the file: at `offset`, less the highest bits of the byte before.
  struct Boundary {
    std::uint64_t offset;
    int unused_bits;
    unsigned last_byte;
  };
  // Where next() has stopped, if that is between two blocks.
  std::optional<Boundary> between_blocks() const;

 private:
  struct Buffers;
  Status open();
  Result<bool> fill();
  tl::unexpected<Error> damaged() const;

  const std::string path_;
  Descriptor file_;
  std::unique_ptr<Buffers> buffers_;
  z_stream stream_{};
  bool opened_ = false, member_ended_ = false, more_output_ = false;
  int members_ = 0;
  std::uint64_t file_bytes_ = 0;
  unsigned last_byte_ = 0;  // of the input before this
};

// The content of a gzip file. Its trailer tells the size modulo 2^32 only, so the bytes are counted.
struct GzipContent {
  std::string head;  // the first bytes, at most as many as were asked for
  std::uint64_t bytes = 0;
};
Result<GzipContent> read_gzip(const std::string& path, std::size_t head_bytes);

// `text` as a gzip member, stored and not deflated. Members behind each other are a gzip file of all their contents
// (RFC 1952, 2.2).
std::string gzip_member(std::string_view text);

// The content of a gzip file of one member, but for its first `cut` bytes, as a gzip member: of the file's own bytes
// but for those that hold the first 32 KiB or so.
Result<std::vector<Piece>> cut_gzip(const std::string& path, std::uint64_t cut);

// Deflate; no flags, no time, from no known system.
inline constexpr std::string_view gzip_header{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10};
// Its lowest `count` bytes, the lowest first.
void append_number(std::string& bytes, std::uint64_t number, int count);

}  // namespace forebay::layouts
