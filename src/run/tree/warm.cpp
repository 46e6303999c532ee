#include "run/tree/warm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

namespace forebay::tree {
namespace {

// The set's list, one line a file: escaped path and the identity's numbers. The n-th line's content is the file "n". It
// is written last, so a set without it is not whole.
constexpr const char* index_name = "index";

std::string line_of(const WarmFile& file) {
  const Identity& on_case = file.on_case;
  return fmt::format("{} {} {} {} {} {}\n", escape(file.path), on_case.device, on_case.inode, on_case.size,
                     on_case.mtime_ns, on_case.ctime_ns);
}

std::optional<WarmFile> file_of(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() != 6) return std::nullopt;
  const auto path = unescape(words[0]);
  std::int64_t numbers[5];
  for (std::size_t i = 0; i < 5; ++i) {
    const auto number = parse_integer(words[i + 1]);
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  if (!path) return std::nullopt;
  return WarmFile{*path, "",
                  Identity{static_cast<std::uint64_t>(numbers[0]), static_cast<std::uint64_t>(numbers[1]),
                           static_cast<std::uint64_t>(numbers[2]), numbers[3], numbers[4]}};
}

// The warm file itself is as it was when it was carried.
bool is_intact(const WarmFile& file) {
  struct stat status {};
  if (::lstat(file.local.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const Identity identity = identity_of(status);
  return identity.size == file.on_case.size && identity.mtime_ns == file.on_case.mtime_ns;
}

// Puts the file over the link, in one step.
bool put(const WarmFile& file, const Entry& entry, const StageRequest& request) {
  const std::string to = local_path(request, entry);
  if (::rename(file.local.c_str(), to.c_str()) == 0) return true;
  if (errno != EXDEV) return false;
  const std::string temporary = temporary_path(request, entry);
  std::error_code failure;
  std::filesystem::copy_file(file.local, temporary, std::filesystem::copy_options::overwrite_existing, failure);
  const std::int64_t time = entry.identity.mtime_ns, second = 1'000'000'000;
  const timespec times[2] = {{time / second, time % second}, {time / second, time % second}};
  const auto made = open_file(temporary, O_RDONLY | O_NOFOLLOW);
  const bool whole = !failure && made && set_rights(made->get(), entry.owner, entry.mode) &&
                     ::utimensat(AT_FDCWD, temporary.c_str(), times, 0) == 0 &&
                     ::rename(temporary.c_str(), to.c_str()) == 0;
  ::unlink(whole ? file.local.c_str() : temporary.c_str());
  return whole;
}

using ByPath = std::map<std::string_view, const WarmFile*>;

ByPath by_path(const std::vector<WarmFile>& files) {
  ByPath map;
  for (const WarmFile& file : files) map[file.path] = &file;
  return map;
}

// The file that can stand for what the case holds at the entry's path; null when there is none.
const WarmFile* stand_in(const ByPath& files, const Entry& entry) {
  const auto found = files.find(entry.path);
  const bool fits = found != files.end() && found->second->on_case == entry.identity && is_intact(*found->second);
  return fits ? found->second : nullptr;
}

}  // namespace

std::string index_of_warm(const std::vector<WarmFile>& files) {
  std::string index;
  for (const WarmFile& file : files) index += line_of(file);
  return index;
}

std::vector<WarmFile> warm_from_index(std::string_view text) {
  std::vector<WarmFile> files;
  for (const std::string_view line : split(text, '\n'))
    if (auto file = file_of(line)) files.push_back(std::move(*file));
  return files;
}

Result<WarmSet> keep_warm(const std::string& directory, const std::vector<WarmFile>& files, std::uint64_t budget) {
  if (auto removed = remove_tree(directory); !removed) return forward(removed);
  WarmSet set;
  if (files.empty()) return set;
  if (auto made = make_private_directory(directory); !made) return forward(made);
  std::string index;
  for (const WarmFile& file : files) {
    if (set.bytes + file.on_case.size > budget || !is_intact(file)) continue;
    if (::rename(file.local.c_str(), join(directory, std::to_string(set.files)).c_str()) != 0) continue;
    index += line_of(file);
    ++set.files;
    set.bytes += file.on_case.size;
  }
  Status written = set.files > 0 ? replace_file(join(directory, index_name), index) : Status();
  if (set.files == 0 || !written) (void)remove_tree(directory);
  if (!written) return forward(written);
  return set;
}

std::vector<WarmFile> read_warm(const std::string& directory) {
  std::vector<WarmFile> files;
  if (!is_own_directory(directory)) return files;
  const auto index = read_file(join(directory, index_name));
  if (!index) return files;
  std::size_t number = 0;
  for (const std::string_view line : split(*index, '\n'))
    if (auto file = file_of(line)) {
      file->local = join(directory, std::to_string(number++));
      files.push_back(std::move(*file));
    } else {
      ++number;
    }
  return files;
}

WarmSet bring_warm(const std::vector<WarmFile>& files, const StageRequest& request, const Inputs& inputs) {
  WarmSet brought;
  const ByPath known = by_path(files);
  const auto fits = [&](const Entry& entry) {
    return entry.kind == Kind::copy && entry.first.empty() && stand_in(known, entry) != nullptr;
  };
  if (std::ranges::none_of(inputs.entries, fits)) return brought;
  for (const Entry& entry : inputs.entries) {
    const std::string path = local_path(request, entry);
    if (entry.kind == Kind::directory) ::mkdir(path.c_str(), entry.mode | 0700);
    const WarmFile* file = entry.kind == Kind::copy && entry.first.empty() ? stand_in(known, entry) : nullptr;
    if (file == nullptr || !put(*file, entry, request)) continue;
    ++brought.files;
    brought.bytes += file->on_case.size;
  }
  return brought;
}

WarmSet use_warm(const std::vector<WarmFile>& files, const StageRequest& request, std::vector<Entry>& entries) {
  WarmSet used;
  const ByPath known = by_path(files);
  for (Entry& entry : entries) {
    const WarmFile* file = entry.kind == Kind::link ? stand_in(known, entry) : nullptr;
    if (file == nullptr || !put(*file, entry, request)) continue;
    entry.kind = Kind::copy;
    ++used.files;
    used.bytes += file->on_case.size;
  }
  return used;
}

}  // namespace forebay::tree
