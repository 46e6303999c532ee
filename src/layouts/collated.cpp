// OpenFOAM's own grouped collated layout: the times of neighbouring ranks in one directory, one file per field.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

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

// What all ranks of a group have under one name. `parts` are in the order of ranks; those that lack the file are not
// there.
struct Together {
  std::string path;
  std::vector<Part> parts;
};

Result<openfoam::FileHeader> header_of(const Part& part) {
  const auto head = read_range(part.local_path, 0, most_header_bytes);
  if (!head) return forward(head);
  auto header = openfoam::parse_header(*head);
  if (!header) return error(Code::failed, "no FoamFile header in", part.local_path);
  return *header;
}

// The bytes of a rank's file that make a block behind the first: all but header and closing line.
Result<Piece> bare_block(const Part& part) {
  const auto header = header_of(part);
  if (!header) return forward(header);
  Piece piece{{}, part.local_path, header->end, part.size - header->end};
  if (piece.length < openfoam::closing_line.size()) return piece;
  const std::uint64_t tail_at = part.size - openfoam::closing_line.size();
  const auto tail = read_range(part.local_path, tail_at, openfoam::closing_line.size());
  if (!tail) return forward(tail);
  if (*tail == openfoam::closing_line) piece.length = tail_at - header->end;
  return piece;
}

// The block of a group's `index`-th rank as pieces. The first block is the file as it is, since readers take the format
// of all blocks from its header; where the first rank has no such file, the header is that of one that has it.
Result<std::vector<Piece>> block_of(const Part* part, std::size_t index, const Part& any) {
  if (part != nullptr) {
    if (index == 0) return std::vector<Piece>{{{}, part->local_path, 0, part->size}};
    auto bare = bare_block(*part);
    if (!bare) return forward(bare);
    return std::vector<Piece>{std::move(*bare)};
  }
  const auto header = header_of(any);
  if (!header) return forward(header);
  auto empty = openfoam::empty_block(*header);
  if (!empty)
    return error(Code::failed, fmt::format("not every rank of the group has this {}:", header->class_name),
                 any.local_path);
  std::vector<Piece> pieces;
  if (index == 0) pieces.push_back({{}, any.local_path, 0, header->end});
  pieces.push_back({std::move(*empty), {}, 0, 0});
  return pieces;
}

// One decomposedBlockData file.
Result<OutputFile> blocks_file(const Together& together, const std::vector<RankTime>& ranks, const std::string& time,
                               int all_ranks) {
  const std::string& path = together.path;
  OutputFile file{path, together.parts[0].mode, 0, {}, {}};
  std::string literal = openfoam::collated_header(name_of(path), join(time, parent_of(path)), all_ranks);
  auto part = together.parts.begin();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Part* own = part != together.parts.end() && part->rank == ranks[i].rank ? &*part++ : nullptr;
    auto block = block_of(own, i, together.parts[0]);
    if (!block) return forward(block);
    std::uint64_t bytes = 0;
    for (const Piece& piece : *block) bytes += piece.source.empty() ? piece.literal.size() : piece.length;
    literal += openfoam::block_prefix(static_cast<int>(i), bytes);
    file.pieces.push_back({std::move(literal), {}, 0, 0});
    for (Piece& piece : *block)
      if (!piece.literal.empty() || piece.length > 0) file.pieces.push_back(std::move(piece));
    literal = openfoam::block_suffix();
    if (own != nullptr) file.mtime_ns = std::max(file.mtime_ns, own->mtime_ns);
  }
  file.pieces.push_back({std::move(literal), {}, 0, 0});
  return file;
}

OutputFile plain_file(const std::string& path, const Part& part) {
  OutputFile file{path, part.mode, part.mtime_ns, {}, {}};
  if (part.size > 0) file.pieces.push_back({{}, part.local_path, 0, part.size});
  return file;
}

// A mesh whose faces are new at this time. Before its fields can be reconstructed, reconstructParMesh must run, and
// with the default file handler that writes processorK/T beside the group, which then hides every field (measured:
// reconstructPar exits 0 without any).
bool is_new_topology(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path == "polyMesh/faces" || path.ends_with("/polyMesh/faces");
}

Result<OutputFile> collate(const Together& together, const std::vector<RankTime>& ranks, const std::string& time,
                           int all_ranks) {
  const Part& first = together.parts[0];
  if (is_new_topology(together.path))
    return error(Code::failed, "cannot collate a time whose mesh has new faces:", first.local_path);
  const auto head = read_range(first.local_path, 0, most_header_bytes);
  if (!head) return forward(head);
  const auto header = openfoam::parse_header(*head);
  if (header && !openfoam::is_global_class(header->class_name)) return blocks_file(together, ranks, time, all_ranks);
  // Kept once, as OpenFOAM does with its own; so are foreign and compressed files, as long as one copy tells all.
  const auto same = all_same(together.parts);
  if (!same) return forward(same);
  if (*same) return plain_file(together.path, first);
  if (head->starts_with(gzip_magic))
    return error(Code::failed, "cannot collate a compressed file:", first.local_path, "set writeCompression off");
  return error(Code::failed, "ranks differ in a file that a group has only once:", first.local_path);
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
  for (auto& [path, parts] : parts_of) {
    auto file = collate({path, std::move(parts)}, ranks, time, all_ranks);
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
