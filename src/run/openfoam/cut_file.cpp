#include "run/openfoam/cut_file.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>

#include "base/base.h"
#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

// A header ends within the first, a closing line begins within the last bytes.
constexpr std::size_t head_bytes = 8192, tail_bytes = 256;

// Up to `size` bytes from `offset` on; nullopt where the file cannot be read.
std::optional<std::string> read_at(int file, off_t offset, std::size_t size) {
  std::string text(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got = ::pread(file, text.data() + have, size - have, offset + static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

// The first and the last bytes of a file's content.
struct Ends {
  std::string head, tail;
};

// Of a gzip stream; nullopt where it does not end.
std::optional<Ends> ends_of_compressed(Descriptor file) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> stream(::gzdopen(file.get(), "rb"), ::gzclose_r);
  if (!stream) return std::nullopt;
  file.release();  // the stream closes it
  Ends ends;
  std::array<char, 64 << 10> buffer;
  for (;;) {
    const int got = ::gzread(stream.get(), buffer.data(), buffer.size());
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
    if (ends.head.size() < head_bytes) ends.head += piece.substr(0, head_bytes - ends.head.size());
    ends.tail += piece.substr(piece.size() - std::min(piece.size(), tail_bytes));
    if (ends.tail.size() > tail_bytes) ends.tail.erase(0, ends.tail.size() - tail_bytes);
  }
  int state = Z_OK;
  ::gzerror(stream.get(), &state);
  // Text that is not compressed comes through as it is: OpenFOAM reads that, too.
  if (state != Z_OK && state != Z_STREAM_END) return std::nullopt;
  return ends;
}

bool ends_with_closing_line(std::string_view tail) {
  while (!tail.empty() && std::isspace(static_cast<unsigned char>(tail.back())) != 0) tail.remove_suffix(1);
  return tail.ends_with("* //");
}

// "\n\n// Processor<i>\n\n<count>\n(<count bytes>)", one after the other from `offset` on.
bool has_blocks(int file, off_t offset, int blocks) {
  for (int block = 0;; ++block) {
    const auto text = read_at(file, offset, tail_bytes);
    if (!text) return false;
    if (text->find_first_not_of(" \t\r\n") == std::string::npos) return block > 0 && (blocks == 0 || block == blocks);
    const std::size_t name = text->find("// Processor");
    if (name == std::string::npos) return false;
    const std::size_t begin = text->find_first_of("\n", name);
    const std::size_t bracket = text->find('(', name);
    if (begin == std::string::npos || bracket == std::string::npos || begin > bracket) return false;
    std::string_view count(*text);
    count = count.substr(begin, bracket - begin);
    while (!count.empty() && std::isspace(static_cast<unsigned char>(count.front())) != 0) count.remove_prefix(1);
    while (!count.empty() && std::isspace(static_cast<unsigned char>(count.back())) != 0) count.remove_suffix(1);
    const auto bytes = parse_integer(count);
    if (!bytes || *bytes < 0) return false;
    offset += static_cast<off_t>(bracket) + 1 + static_cast<off_t>(*bytes);
    const auto closing = read_at(file, offset, 1);
    if (!closing || *closing != ")") return false;
    ++offset;
  }
}

}  // namespace

bool is_cut(const std::string& path, int blocks) {
  auto file = open_file(path, O_RDONLY | O_NONBLOCK | O_NOATIME);
  struct stat status {};
  if (!file || ::fstat(file->get(), &status) != 0) return true;
  if (!S_ISREG(status.st_mode)) return false;
  if (status.st_size == 0) return true;
  const bool compressed = path.ends_with(".gz");
  Ends ends;
  if (compressed) {
    auto found = ends_of_compressed(std::move(*file));
    if (!found) return true;
    ends = std::move(*found);
    if (ends.head.empty()) return true;
  } else {
    auto head = read_at(file->get(), 0, head_bytes);
    auto tail = read_at(file->get(), std::max<off_t>(0, status.st_size - static_cast<off_t>(tail_bytes)), tail_bytes);
    if (!head || !tail) return true;
    ends = {std::move(*head), std::move(*tail)};
  }
  const auto header = parse_header(ends.head);
  // It ends within its header, or within the banner before it.
  if (!header)
    return ends.head.size() < head_bytes && (ends.head.starts_with("FoamFile") || ends.head.starts_with("/*-----"));
  if (header->class_name != "decomposedBlockData") return !ends_with_closing_line(ends.tail);
  if (compressed) return !ends.tail.ends_with(")") && !ends.tail.ends_with(")\n");  // the stream is whole
  return !has_blocks(file->get(), static_cast<off_t>(header->end), blocks);
}

}  // namespace forebay::openfoam
