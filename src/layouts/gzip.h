// gzip files (RFC 1952): how much one holds, and small ones made anew; private to this room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/base.h"

namespace forebay::layouts {

// What a gzip file holds. Its trailer tells the size modulo 2^32 only, so the bytes are counted.
struct GzipContent {
  std::string head;  // the first bytes, at most as many as were asked for
  std::uint64_t bytes = 0;
};
// Inflates a file to its end, in bounded memory, and keeps only the first `head_bytes`. What is damaged, cut off, or
// followed by anything but further members is an error without errno.
Result<GzipContent> read_gzip(const std::string& path, std::size_t head_bytes);

// `text` as a gzip member, stored and not deflated. Members behind each other are a gzip file of all their contents
// (RFC 1952, 2.2).
std::string gzip_member(std::string_view text);

}  // namespace forebay::layouts
