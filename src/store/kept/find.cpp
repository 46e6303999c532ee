// Which stores lie in a directory.
#include <algorithm>
#include <cerrno>
#include <tuple>

#include "store/kept/files.h"

namespace forebay::kept {
namespace {

// "<name>-<rank>": the rank.
std::optional<std::int64_t> rank_in(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos || dash == 0) return std::nullopt;
  return parse_integer(std::string_view(name).substr(dash + 1));
}

// Reads the file `store`. Another program's directories may have a file of that name.
void read_head(const Files& files, Part& part) {
  const std::string path = join(part.path, "store");
  if (!files.store) {
    part.head = error(Code::lost, "the head of the store (the file \"store\") is gone:", part.path,
                      "only a head that another tier has tells what lies here");
    return;
  }
  std::string bytes(segment::kStoreFileBytes, '\0');
  const auto got = read_at(files.store, 0, std::as_writable_bytes(std::span(bytes)), path);
  if (!got) {
    part.head = forward(got);
    return;
  }
  bytes.resize(*got);
  part.marked = segment::is_head(bytes);
  part.head = segment::decode_head(bytes, path);
}

std::optional<Part> part_in(const std::string& pool, const std::string& name, const std::string& path,
                            const LockHolders& holders) {
  auto files = open_directory(pool, name);
  if (!files) {
    // Another user's, which is told where it is named as ours are.
    if (files.error().errno_value != EACCES || !rank_in(name)) return std::nullopt;
    files.error().path = path;
    files.error().advice = "it may be another user's";
    return Part{.path = path, .pool = pool, .name = name, .head = forward(files)};
  }
  Part part{.path = path, .pool = pool, .name = name, .head = segment::DecodedHead{}};
  if (const auto opened = open_files(*files, path); !opened) {
    // Told where the directory is named as ours are.
    if (!rank_in(name)) return std::nullopt;
    part.head = forward(opened);
    return part;
  }
  bool holds_segments = false;
  for (const Descriptor* const file : {&files->store, &files->segments}) {
    struct stat status {};
    if (!*file || ::fstat(file->get(), &status) != 0) continue;
    part.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    if (file != &files->segments) continue;
    holds_segments = status.st_blocks > 0;
    part.user = holders.of(status);
  }
  read_head(*files, part);
  if (part.marked || (holds_segments && rank_in(name))) return part;
  return std::nullopt;
}

}  // namespace

Result<std::vector<Part>> find(const std::string& directory) {
  const auto real = real_path(directory);
  if (!real) {
    return error(Code::bad_input, "no such directory:", directory, "give the directory that a pool was given as");
  }
  const LockHolders holders;
  std::vector<Part> parts;
  if (auto part = part_in(std::string(directory_of(*real)), std::string(name_of(*real)), directory, holders)) {
    parts.push_back(std::move(*part));
    return parts;
  }
  const auto entries = list_directory(*real);
  if (!entries && entries.error().errno_value == ENOTDIR) {
    return error(Code::bad_input, "not a directory:", directory, "give the directory that a pool was given as");
  }
  if (!entries) return forward(entries);
  for (const DirectoryEntry& entry : *entries) {
    if (entry.type != DT_DIR) continue;
    if (auto part = part_in(*real, entry.name, join(directory, entry.name), holders)) parts.push_back(std::move(*part));
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    const auto place = [](const Part& part) { return std::tuple(part.trajectory(), rank_in(part.name).value_or(-1)); };
    return place(a) < place(b);
  });
  return parts;
}

}  // namespace forebay::kept
