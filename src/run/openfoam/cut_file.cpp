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

// The first and the last bytes of a file's content.
struct Ends {
  std::string head, tail;
};

// The ends of a gzip stream; nullopt where it does not end.
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

constexpr std::size_t enough_times = 2;  // with a name, to tell how its files end

bool ends_with_closing_line(std::string_view tail) {
  while (!tail.empty() && std::isspace(static_cast<unsigned char>(tail.back())) != 0) tail.remove_suffix(1);
  return tail.ends_with("* //");
}

// "\n\n// Processor<i>\n\n<count>\n(<count bytes>)", one after the other from `offset` on.
bool has_blocks(int file, std::uint64_t offset, int blocks) {
  for (int block = 0;; ++block) {
    const auto text = read_part(file, offset, tail_bytes, {});
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
    offset += bracket + 1 + static_cast<std::uint64_t>(*bytes);
    const auto closing = read_part(file, offset, 1, {});
    if (!closing || *closing != ")") return false;
    ++offset;
  }
}

}  // namespace

Ending ending_of(const std::string& path, int blocks) {
  auto file = open_file(path, O_RDONLY | O_NONBLOCK | O_NOATIME);
  struct stat status {};
  if (!file || ::fstat(file->get(), &status) != 0) return Ending::torn;
  if (!S_ISREG(status.st_mode)) return Ending::plain;
  if (status.st_size == 0) return Ending::empty;
  const bool compressed = path.ends_with(".gz");
  Ends ends;
  if (compressed) {
    auto found = ends_of_compressed(std::move(*file));
    if (!found) return Ending::torn;
    ends = std::move(*found);
    if (ends.head.empty()) return Ending::empty;
  } else {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    auto head = read_part(file->get(), 0, head_bytes, path);
    auto tail = read_part(file->get(), size - std::min<std::uint64_t>(size, tail_bytes), tail_bytes, path);
    if (!head || !tail) return Ending::torn;
    ends = {std::move(*head), std::move(*tail)};
  }
  const auto header = parse_header(ends.head);
  if (!header) {  // it ends within its header, or within the banner before it
    const bool begun = ends.head.starts_with("FoamFile") || ends.head.starts_with("/*-----");
    return begun && ends.head.size() < head_bytes ? Ending::torn : Ending::plain;
  }
  if (header->class_name != "decomposedBlockData")
    return ends_with_closing_line(ends.tail) ? Ending::closed : Ending::unclosed;
  const bool whole = compressed ? ends.tail.ends_with(")") || ends.tail.ends_with(")\n")  // the stream is whole
                                : has_blocks(file->get(), static_cast<off_t>(header->end), blocks);
  return whole ? Ending::plain : Ending::torn;
}

bool Habits::add(const std::string& time, const Endings& endings) {
  bool changed = false;
  for (const auto& [name, ending] : endings) {
    if (ending == Ending::torn) continue;
    OfName& of = of_name_[name];
    const OfName before = of;
    if (of.times.size() < enough_times) of.times.insert(time);
    of.closed = of.closed || ending == Ending::closed;
    of.filled = of.filled || ending != Ending::empty;
    any_closed_ = any_closed_ || of.closed;
    const bool differs =
        of.times.size() != before.times.size() || of.closed != before.closed || of.filled != before.filled;
    changed = changed || (before.doubtful && differs);
    of.doubtful = of.doubtful || ending == Ending::unclosed || ending == Ending::empty;
  }
  return changed;
}

bool Habits::is_cut(const std::string& name, Ending ending) const {
  if (ending == Ending::plain || ending == Ending::closed) return false;
  if (ending == Ending::torn) return true;
  const auto found = of_name_.find(name);
  const OfName of = found == of_name_.end() ? OfName() : found->second;
  const bool alone = of.times.size() < enough_times;
  if (ending == Ending::empty) return of.filled || alone;
  return of.closed || (alone && any_closed_);
}

}  // namespace forebay::openfoam
