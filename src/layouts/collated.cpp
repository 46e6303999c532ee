// OpenFOAM's own grouped collated layout: the times of neighbouring ranks in one directory, one file per field.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>

#include "layouts/local_files.h"
#include "openfoam/openfoam.h"

namespace forebay::layouts {
namespace {

// FoamFile headers are about 900 bytes; a `note` entry may make one longer.
constexpr std::size_t most_header_bytes = 8192;
constexpr std::string_view gzip_magic = "\x1f\x8b";

// One rank's file.
struct Part {
  int rank = 0;
  std::string local_path;
  std::uint64_t size = 0;
  mode_t mode = 0644;
  std::int64_t mtime_ns = 0;
};

// The bytes [offset, offset + length) of a file, fewer at its end.
Result<std::string> read_range(const std::string& path, std::uint64_t offset, std::size_t length) {
  auto file = open_file(path, O_RDONLY | O_NOFOLLOW);
  if (!file) return forward(file);
  std::string bytes(length, '\0');
  std::size_t have = 0;
  while (have < length) {
    const ssize_t got = ::pread(file->get(), bytes.data() + have, length - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read", path);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

Result<bool> same_content(const Part& a, const Part& b) {
  if (a.size != b.size) return false;
  constexpr std::size_t window = std::size_t{1} << 20;
  for (std::uint64_t offset = 0; offset < a.size; offset += window) {
    const auto first = read_range(a.local_path, offset, window);
    if (!first) return forward(first);
    const auto second = read_range(b.local_path, offset, window);
    if (!second) return forward(second);
    if (*first != *second) return false;
  }
  return true;
}

Result<bool> all_same(const std::vector<Part>& parts) {
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto same = same_content(parts[0], parts[i]);
    if (!same || !*same) return same;
  }
  return true;
}

Result<Part> look_at(const RankTime& rank_time, const std::string& path) {
  Part part{rank_time.rank, join(rank_time.directory, path), 0, 0, 0};
  struct stat status {};
  if (::lstat(part.local_path.c_str(), &status) != 0) return errno_error("cannot stat", part.local_path);
  if (!S_ISREG(status.st_mode))
    return error(Code::failed, "cannot collate what is not a regular file:", part.local_path);
  part.size = static_cast<std::uint64_t>(status.st_size);
  part.mode = status.st_mode & 07777;
  part.mtime_ns = modification_time(status);
  return part;
}

// The bytes of a rank's file that make its block: the first block is the file as it is, the others go without header
// and closing line, as in the files that OpenFOAM's collated writer makes.
Result<Piece> block_of(const Part& part, bool first) {
  const auto head = read_range(part.local_path, 0, most_header_bytes);
  if (!head) return forward(head);
  const auto header = openfoam::parse_header(*head);
  if (!header) return error(Code::failed, "no FoamFile header in", part.local_path);
  Piece piece{{}, part.local_path, 0, part.size};
  if (first) return piece;
  piece.offset = header->end;
  piece.length = part.size - header->end;
  if (piece.length < openfoam::closing_line.size()) return piece;
  const std::uint64_t tail_at = part.size - openfoam::closing_line.size();
  const auto tail = read_range(part.local_path, tail_at, openfoam::closing_line.size());
  if (!tail) return forward(tail);
  if (*tail == openfoam::closing_line) piece.length = tail_at - header->end;
  return piece;
}

// One decomposedBlockData file of all parts.
Result<OutputFile> blocks_file(const std::string& path, const std::vector<Part>& parts, const std::string& time,
                               int all_ranks) {
  OutputFile file{path, parts[0].mode, parts[0].mtime_ns, {}, {}};
  std::string literal = openfoam::collated_header(name_of(path), join(time, parent_of(path)), all_ranks);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto block = block_of(parts[i], i == 0);
    if (!block) return forward(block);
    literal += openfoam::block_prefix(static_cast<int>(i), block->length);
    file.pieces.push_back({std::move(literal), {}, 0, 0});
    if (block->length > 0) file.pieces.push_back(std::move(*block));
    literal = openfoam::block_suffix();
    file.mtime_ns = std::max(file.mtime_ns, parts[i].mtime_ns);
  }
  file.pieces.push_back({std::move(literal), {}, 0, 0});
  return file;
}

OutputFile plain_file(const std::string& path, const Part& part) {
  OutputFile file{path, part.mode, part.mtime_ns, {}, {}};
  if (part.size > 0) file.pieces.push_back({{}, part.local_path, 0, part.size});
  return file;
}

Result<OutputFile> collate(const std::string& path, const std::vector<Part>& parts, const std::string& time,
                           std::size_t group_size, int all_ranks) {
  const auto head = read_range(parts[0].local_path, 0, most_header_bytes);
  if (!head) return forward(head);
  const auto header = openfoam::parse_header(*head);
  // Dictionaries and uniform values are kept once, as OpenFOAM does; so are files that are none of its own, as long as
  // one copy tells all.
  if (!header || openfoam::is_global_class(header->class_name)) {
    const auto same = all_same(parts);
    if (!same) return forward(same);
    if (*same) return plain_file(path, parts[0]);
  }
  if (head->starts_with(gzip_magic))
    return error(Code::failed, "cannot collate a compressed file:", parts[0].local_path, "set writeCompression off");
  if (!header) return error(Code::failed, "ranks differ in a file that is not OpenFOAM's:", parts[0].local_path);
  if (parts.size() != group_size)
    return error(Code::failed, fmt::format("only {} of {} ranks of the group have", parts.size(), group_size),
                 parts[0].local_path);
  return blocks_file(path, parts, time, all_ranks);
}

}  // namespace

Result<Unit> collated_time(const std::vector<RankTime>& ranks, const std::string& time, int all_ranks) {
  if (ranks.empty()) return error(Code::failed, "no ranks to collate for time", time);
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i].rank != ranks[i - 1].rank + 1) return error(Code::failed, "ranks of a group do not follow each other");
  }
  Unit unit;
  unit.target = join(group_name(ranks.front().rank, ranks.back().rank, all_ranks), time);
  unit.is_directory = true;

  std::map<std::string, std::vector<Part>> parts_of;
  std::map<std::string, OutputDirectory> directories;
  for (const RankTime& rank_time : ranks) {
    const auto below = directories_below(rank_time.directory);
    if (!below) return forward(below);
    for (const OutputDirectory& directory : *below) directories.emplace(directory.path, directory);
    for (const std::string& path : rank_time.files) {
      auto part = look_at(rank_time, path);
      if (!part) return forward(part);
      parts_of[path].push_back(std::move(*part));
    }
  }
  for (auto& [path, directory] : directories) unit.directories.push_back(directory);
  for (const auto& [path, parts] : parts_of) {
    auto file = collate(path, parts, time, ranks.size(), all_ranks);
    if (!file) return forward(file);
    unit.files.push_back(std::move(*file));
  }
  return unit;
}

std::string group_name(int first, int last, int all_ranks) {
  if (first == 0 && last == all_ranks - 1) return fmt::format("processors{}", all_ranks);
  return fmt::format("processors{}_{}-{}", all_ranks, first, last);
}

std::string io_ranks(const std::vector<std::pair<int, int>>& groups) {
  std::string text;
  for (const auto& [first, last] : groups) text += fmt::format("{}{}", text.empty() ? "" : " ", first);
  return "(" + text + ")";
}

}  // namespace forebay::layouts
