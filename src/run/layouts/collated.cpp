// OpenFOAM's own grouped collated layout: the times of neighbouring ranks in one directory, one file per field.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

#include "run/layouts/gzip.h"
#include "run/layouts/local_files.h"
#include "run/openfoam/openfoam.h"

namespace forebay::layouts {
namespace {

// FoamFile headers are about 900 bytes; a `note` entry may make one longer.
constexpr std::size_t most_header_bytes = 8192;
constexpr std::string_view gzip_suffix = ".gz";
// OpenFOAM reads a block's count as a label.
constexpr std::uint64_t most_block_bytes = 0x7fffffff;

// One rank's file.
struct Part {
  int rank = 0;
  std::string local_path;
  Identity identity;
  mode_t mode = 0644;
  // read_head() fills it; for a compressed file it is the content's.
  std::string head;
  std::uint64_t bytes = 0;
};

// The bytes [offset, offset + length) of a file, fewer at its end.
Result<std::string> read_range(const std::string& path, std::uint64_t offset, std::size_t length) {
  auto file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NOATIME | O_NONBLOCK);
  if (!file) return forward(file);
  return read_part(file->get(), offset, length, path);
}

Result<bool> same_content(const Part& a, const Part& b) {
  if (a.identity.size != b.identity.size) return false;
  constexpr std::size_t window = std::size_t{1} << 20;
  for (std::uint64_t offset = 0; offset < a.identity.size; offset += window) {
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

Result<Part> part_of(const RankTime& rank_time, const std::string& path) {
  Part part{rank_time.rank, join(rank_time.directory, path), {}, 0, {}, 0};
  struct stat status {};
  if (::lstat(part.local_path.c_str(), &status) != 0) return errno_error("cannot stat", part.local_path);
  if (!S_ISREG(status.st_mode))
    return error(Code::failed, "cannot collate what is not a regular file:", part.local_path);
  part.identity = identity_of(status);
  part.mode = status.st_mode & 07777;
  return part;
}

// The files of all ranks of a group under one name. `parts` are in the order of ranks; ranks that lack the file are not
// there.
struct Together {
  std::string path;
  std::vector<Part> parts;
};

bool is_compressed(const Together& together) {
  return together.path.ends_with(gzip_suffix);
}

Status still_the_same(const Part& part) {
  struct stat status {};
  if (::lstat(part.local_path.c_str(), &status) != 0) return errno_error("cannot stat", part.local_path);
  if (identity_of(status) == part.identity) return {};
  errno = EBUSY;
  return errno_error("changed while it was read:", part.local_path);
}

// A compressed file is inflated as a whole: blocks need the true size of their content, and what is damaged would hide
// the blocks behind it.
Status read_head(Part& part, bool compressed) {
  if (!compressed) {
    auto head = read_range(part.local_path, 0, most_header_bytes);
    if (!head) return forward(head);
    part.head = std::move(*head);
    part.bytes = part.identity.size;
    return {};
  }
  auto content = read_gzip(part.local_path, most_header_bytes);
  if (!content) return forward(content);
  part.head = std::move(content->head);
  part.bytes = content->bytes;
  return still_the_same(part);
}

Status read_heads(Together& together) {
  for (Part& part : together.parts)
    if (auto seen = read_head(part, is_compressed(together)); !seen) return seen;
  return {};
}

// One rank's share of a decomposedBlockData file: text, then pieces that are in the form of the file already.
struct Block {
  std::string text;
  std::vector<Piece> pieces;
  std::uint64_t bytes = 0;  // of content
};

Block whole_file_block(const Part& part) {
  return {{}, {{{}, part.local_path, 0, part.identity.size}}, part.bytes};
}

// A block behind the first: all but header and closing line.
Result<Block> bare_block(const Part& part, const openfoam::FileHeader& header) {
  Piece piece{{}, part.local_path, header.end, part.bytes - header.end};
  if (piece.length >= openfoam::closing_line.size()) {
    const std::uint64_t tail_at = part.bytes - openfoam::closing_line.size();
    const auto tail = read_range(part.local_path, tail_at, openfoam::closing_line.size());
    if (!tail) return forward(tail);
    if (*tail == openfoam::closing_line) piece.length = tail_at - header.end;
  }
  const std::uint64_t bytes = piece.length;
  return Block{{}, {std::move(piece)}, bytes};
}

// The block of a group's `index`-th rank. The first block is the file as it is, since readers take the format of all
// blocks from its header. Where the first rank has no such file, the header is that of one that has it. A compressed
// field stays whole in every block, which is cheaper than to cut its header off.
Result<Block> block_of(const Part* part, std::size_t index, const Part& any, bool compressed) {
  const Part& model = part != nullptr ? *part : any;
  const auto header = openfoam::parse_header(model.head);
  if (!header) return error(Code::failed, "no FoamFile header in", model.local_path);
  if (model.bytes > most_block_bytes)
    return error(Code::failed, "larger than OpenFOAM can count in a collated file:", model.local_path);
  if (part != nullptr) {
    if (index == 0) return whole_file_block(*part);
    if (!compressed) return bare_block(*part, *header);
    if (openfoam::is_mesh_field_class(header->class_name)) return whole_file_block(*part);
    auto rest = cut_gzip(part->local_path, header->end);
    if (!rest) return forward(rest);
    if (auto same = still_the_same(*part); !same) return forward(same);
    return Block{{}, std::move(*rest), part->bytes - header->end};
  }
  auto empty = openfoam::empty_block(*header);
  if (!empty)
    return error(Code::failed, fmt::format("not every rank of the group has this {}:", header->class_name),
                 any.local_path);
  const std::string text = (index == 0 ? any.head.substr(0, header->end) : std::string()) + *empty;
  return Block{text, {}, text.size()};
}

// Puts an output file together from texts and pieces. In a compressed file every run of text becomes a gzip member
// between those that the ranks wrote.
class Assembly {
 public:
  explicit Assembly(bool compressed) : compressed_(compressed) {}

  void add(std::string_view text) { text_ += text; }
  void add(std::vector<Piece> pieces) {
    for (Piece& piece : pieces) {
      if (piece.literal.empty() && piece.length == 0) continue;
      end_text();
      pieces_.push_back(std::move(piece));
    }
  }
  std::vector<Piece> finish() {
    end_text();
    return std::move(pieces_);
  }

 private:
  void end_text() {
    if (text_.empty()) return;
    pieces_.push_back({compressed_ ? gzip_member(text_) : std::move(text_), {}, 0, 0});
    text_.clear();
  }

  const bool compressed_;
  std::string text_;
  std::vector<Piece> pieces_;
};

// One decomposedBlockData file.
Result<OutputFile> blocks_file(const Together& together, const std::vector<RankTime>& ranks, const std::string& time,
                               int all_ranks) {
  const bool compressed = is_compressed(together);
  const std::string& path = together.path;
  OutputFile file{path, together.parts[0].mode, 0, {}, {}};
  std::string_view object = name_of(path);
  if (compressed) object.remove_suffix(gzip_suffix.size());
  Assembly assembly(compressed);
  assembly.add(openfoam::collated_header(object, join(time, parent_of(path)), all_ranks));
  auto part = together.parts.begin();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Part* own = part != together.parts.end() && part->rank == ranks[i].rank ? &*part++ : nullptr;
    auto block = block_of(own, i, together.parts[0], compressed);
    if (!block) return forward(block);
    assembly.add(openfoam::block_prefix(static_cast<int>(i), block->bytes));
    assembly.add(block->text);
    assembly.add(std::move(block->pieces));
    assembly.add(openfoam::block_suffix());
    if (own != nullptr) file.mtime_ns = std::max(file.mtime_ns, own->identity.mtime_ns);
  }
  file.pieces = assembly.finish();
  return file;
}

OutputFile plain_file(const std::string& path, const Part& part) {
  OutputFile file{path, part.mode, part.identity.mtime_ns, {}, {}};
  if (part.identity.size > 0) file.pieces.push_back({{}, part.local_path, 0, part.identity.size});
  return file;
}

// A mesh whose faces are new at this time. Before its fields can be reconstructed, reconstructParMesh must run, and
// with the default file handler that writes processorK/T beside the group, which then hides every field (measured:
// reconstructPar exits 0 without any).
bool is_new_topology(std::string_view path) {
  if (path.ends_with(gzip_suffix)) path.remove_suffix(gzip_suffix.size());
  return path == "polyMesh/faces" || path.ends_with("/polyMesh/faces");
}

Result<OutputFile> collate(Together together, const std::vector<RankTime>& ranks, const std::string& time,
                           int all_ranks) {
  const Part& first = together.parts[0];
  if (is_new_topology(together.path))
    return error(Code::failed, "cannot collate a time whose mesh has new faces:", first.local_path);
  const auto readable = read_heads(together);
  if (!readable && readable.error().errno_value != 0) return forward(readable);
  if (readable) {
    const auto header = openfoam::parse_header(first.head);
    if (header && !openfoam::is_global_class(header->class_name)) return blocks_file(together, ranks, time, all_ranks);
  }
  // Kept once, as OpenFOAM does with its own; so are foreign and damaged files, as long as one copy tells all.
  const auto same = all_same(together.parts);
  if (!same) return forward(same);
  if (*same) return plain_file(together.path, first);
  if (!readable) return forward(readable);
  return error(Code::failed, "ranks differ in a file that a group has only once:", first.local_path);
}

}  // namespace

Result<Unit> collated_time(const std::vector<RankTime>& ranks, const std::string& time, int all_ranks) {
  if (ranks.empty()) return error(Code::failed, "no ranks to collate for time", time);
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i].rank != ranks[i - 1].rank + 1) return error(Code::failed, "ranks of a group do not follow each other");
  }
  Unit unit;
  unit.target = join(openfoam::name_of_group({all_ranks, ranks.front().rank, ranks.back().rank}), time);
  unit.is_directory = true;

  std::map<std::string, std::vector<Part>> parts_of;
  std::map<std::string, OutputDirectory> directories;
  for (const RankTime& rank_time : ranks) {
    const auto below = directories_below(rank_time.directory);
    if (!below) return forward(below);
    for (const OutputDirectory& directory : *below) directories.emplace(directory.path, directory);
    for (const std::string& path : rank_time.files) {
      auto part = part_of(rank_time, path);
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

std::string io_ranks(const std::vector<std::pair<int, int>>& groups) {
  std::string text;
  for (const auto& [first, last] : groups) text += fmt::format("{}{}", text.empty() ? "" : " ", first);
  return "(" + text + ")";
}

}  // namespace forebay::layouts
