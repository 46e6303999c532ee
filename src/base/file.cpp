#include "base/file.h"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

#include "base/random.h"
#include "base/text.h"

namespace forebay {
namespace {

std::int64_t nanoseconds(const struct timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

Result<std::vector<DirectoryEntry>> list_and_close(Descriptor own, const std::string& path_for_errors,
                                                   std::size_t at_most = SIZE_MAX);

// Its owner's, even where its mode keeps the owner out.
Result<Descriptor> open_to_empty(int parent, const std::string& name) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  auto opened = open_file_at(parent, name, flags);
  if (opened || opened.error().errno_value != EACCES ||
      ::fchmodat(parent, name.c_str(), S_IRWXU, AT_SYMLINK_NOFOLLOW) != 0)
    return opened;
  return open_file_at(parent, name, flags);
}

// Another who removes the same tree may have been first.
bool is_gone(const Error& error) {
  return error.errno_value == ENOENT;
}

Status remove_below(int directory, dev_t device, const std::string& path) {
  struct stat own {};
  if (::fstat(directory, &own) == 0 && (own.st_mode & S_IRWXU) != S_IRWXU) (void)::fchmod(directory, S_IRWXU);
  auto entries = list_directory(directory, path);
  if (!entries) return is_gone(entries.error()) ? Status() : forward(entries);
  for (const DirectoryEntry& entry : *entries) {
    const std::string below = join(path, entry.name);
    if (entry.type == DT_DIR) {
      auto child = open_to_empty(directory, entry.name);
      if (!child && is_gone(child.error())) continue;
      if (!child) return forward(child);
      struct stat status {};
      if (fstat(child->get(), &status) != 0) return errno_error("cannot stat", below);
      if (status.st_dev != device)
        return error(Code::failed, "will not remove across a mount point at", below, "unmount it first");
      if (auto removed = remove_below(child->get(), device, below); !removed) return removed;
      if (unlinkat(directory, entry.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
        return errno_error("cannot remove directory", below);
    } else if (unlinkat(directory, entry.name.c_str(), 0) != 0 && errno != ENOENT) {
      return errno_error("cannot remove", below);
    }
  }
  return {};
}

}  // namespace

void Descriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Identity identity_of(const struct stat& status) {
  return {status.st_dev,
          status.st_ino,
          static_cast<std::uint64_t>(status.st_size),
          nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim),
          status.st_nlink};
}

bool still_is(const struct stat& now, const Identity& known) {
  Identity identity = identity_of(now);
  // Journals of 0.1.0 do not tell how many names a file had.
  const bool other_names = known.links == 0 ? identity.links > 1 : identity.links != known.links;
  if (known.ctime_ns == 0 || other_names) identity.ctime_ns = known.ctime_ns;
  return identity == known;
}

Owner owner_of(const struct stat& status) {
  return {status.st_uid, status.st_gid};
}

bool set_rights(int fd, Owner owner, mode_t mode) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  if (owner_of(status) != owner) {
    if (::fchown(fd, owner.user, owner.group) != 0) (void)!::fchown(fd, static_cast<uid_t>(-1), owner.group);
    if (::fstat(fd, &status) != 0) return false;
  }
  if (status.st_uid != owner.user) mode &= ~mode_t{S_ISUID};
  if (status.st_gid != owner.group) mode &= ~mode_t{S_ISGID};
  return ::fchmod(fd, mode) == 0;
}

Result<Descriptor> open_file(const std::string& path, int flags, mode_t mode) {
  return open_file_at(AT_FDCWD, path, flags, mode);
}

Result<Descriptor> open_file_at(int directory, const std::string& path, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::openat(directory, path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0 && errno == EPERM && (flags & O_NOATIME) != 0)
    return open_file_at(directory, path, flags & ~O_NOATIME, mode);
  if (fd < 0) return errno_error("cannot open", path);
  return Descriptor(fd);
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  auto file = open_file(path, O_RDONLY);
  if (!file) return forward(file);
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file->get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read", path);
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > limit) return error(Code::bad_input, "more than " + plural(limit, "byte") + " in", path);
  }
}

Result<std::string> read_part(int fd, std::uint64_t offset, std::size_t length, const std::string& path_for_errors) {
  std::string bytes(length, '\0');
  std::size_t have = 0;
  while (have < length) {
    const ssize_t got = ::pread(fd, bytes.data() + have, length - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read", path_for_errors);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

Status write_all(int fd, std::span<const std::byte> bytes, const std::string& path_for_errors) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error("cannot write", path_for_errors);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Status write_all(int fd, std::string_view bytes, const std::string& path_for_errors) {
  return write_all(fd, std::as_bytes(std::span(bytes.data(), bytes.size())), path_for_errors);
}

Status write_all_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& path_for_errors,
                    std::string_view advice) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error("cannot write", path_for_errors, advice);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

void begin_writing_back(int fd, std::uint64_t offset, std::uint64_t bytes) {
  (void)::sync_file_range(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
}

Status replace_file(const std::string& path, std::string_view content, mode_t mode) {
  return replace_file_through(fmt::format("{}.{}.new", path, ::getpid()), path, content, mode);
}

Status replace_file_through(const std::string& temporary, const std::string& path, std::string_view content,
                            mode_t mode) {
  auto file = open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode);
  if (!file) return forward(file);
  if (auto written = write_all(file->get(), content, temporary); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return errno_error("cannot rename to", path);
  return {};
}

Status make_private_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    if (errno != ENOENT) return errno_error("cannot make directory", path);
    if (auto parent = make_private_directory(std::string(parent_of(path))); !parent) return parent;
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return errno_error("cannot make directory", path);
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return errno_error("cannot stat", path);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 0066) != 0)
    return error(Code::bad_input, "not a private directory of this user:", path,
                 "let it be owned by you with mode 0700, or name another place");
  return {};
}

bool is_own_directory(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

namespace {
std::string user_name() {
  return fmt::format("forebay-{}", ::geteuid());
}
}  // namespace

std::string user_directory_in(const std::string& directory) {
  const std::string usual = join(directory, user_name());
  struct stat status {};
  if (::lstat(usual.c_str(), &status) != 0 || status.st_uid == ::geteuid()) return usual;
  const std::vector<std::string> others = user_directories_in(directory);
  return others.empty() ? fmt::format("{}-{:08x}", usual, static_cast<std::uint32_t>(random_number())) : others.front();
}

std::vector<std::string> user_directories_in(const std::string& directory) {
  std::vector<std::string> found;
  const auto entries = list_directory(directory);
  if (!entries) return found;
  const std::string usual = user_name();
  for (const DirectoryEntry& entry : *entries)
    if ((entry.name == usual || entry.name.starts_with(usual + "-")) && is_own_directory(join(directory, entry.name)))
      found.push_back(join(directory, entry.name));
  std::sort(found.begin(), found.end());
  return found;
}

Status remove_tree(const std::string& path) {
  return remove_tree_at(AT_FDCWD, path, path);
}

Status remove_tree_at(int directory, const std::string& name, const std::string& path_for_errors) {
  struct stat status {};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return errno_error("cannot stat", path_for_errors);
  }
  if (!S_ISDIR(status.st_mode)) {
    if (::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT)
      return errno_error("cannot remove", path_for_errors);
    return {};
  }
  {
    auto opened = open_to_empty(directory, name);
    if (!opened) return is_gone(opened.error()) ? Status() : forward(opened);
    if (auto removed = remove_below(opened->get(), status.st_dev, path_for_errors); !removed) return removed;
  }
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
    return errno_error("cannot remove directory", path_for_errors);
  return {};
}

Result<std::vector<DirectoryEntry>> list_directory(int directory, const std::string& path_for_errors,
                                                   std::size_t at_most) {
  // A descriptor of its own, so that the caller's offset does not matter.
  auto own = open_file_at(directory, ".", O_RDONLY | O_DIRECTORY);
  if (!own) return errno_error("cannot list", path_for_errors);
  return list_and_close(std::move(*own), path_for_errors, at_most);
}

Result<std::vector<DirectoryEntry>> list_directory(const std::string& path) {
  auto directory = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!directory) return forward(directory);
  return list_and_close(std::move(*directory), path);
}

namespace {

// By the kernel's call itself: the agent lists every directory of a time while the solver computes, and opendir() makes
// three more calls and a buffer of its own.
Result<std::vector<DirectoryEntry>> list_and_close(Descriptor own, const std::string& path_for_errors,
                                                   std::size_t at_most) {
  std::vector<DirectoryEntry> entries;
  alignas(dirent64) char buffer[1 << 14];
  ssize_t got = 0;
  while (entries.size() <= at_most && (got = ::getdents64(own.get(), buffer, sizeof buffer)) > 0) {
    const dirent64* found = nullptr;
    for (const char* at = buffer; at < buffer + got; at += found->d_reclen) {
      found = reinterpret_cast<const dirent64*>(at);
      const std::string_view name = found->d_name;
      if (name == "." || name == "..") continue;
      unsigned char type = found->d_type;
      if (type == DT_UNKNOWN) {
        struct stat status {};
        if (::fstatat(own.get(), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
          if (errno == ENOENT) continue;
          return errno_error("cannot stat", join(path_for_errors, name));
        }
        type = static_cast<unsigned char>(IFTODT(status.st_mode));
      }
      entries.push_back({std::string(name), type});
    }
  }
  if (got < 0) return errno_error("cannot list", path_for_errors);
  std::sort(entries.begin(), entries.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace

bool leads_to_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool leads_to_directory(const std::string& path, const DirectoryEntry& entry) {
  return entry.type == DT_LNK ? leads_to_directory(path) : entry.type == DT_DIR;
}

Result<std::string> read_link(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length < 0) return errno_error("cannot read link", path);
  return std::string(target, static_cast<std::size_t>(length));
}

Result<std::string> real_path(const std::string& path) {
  std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), std::free);
  if (!resolved) return errno_error("cannot resolve", path);
  return std::string(resolved.get());
}

bool name_exists(const std::string& path) {
  return status_of(path).has_value();
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

std::string join(std::string_view directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  if (name.empty()) return std::string(directory);
  std::string path(directory);
  if (path.back() != '/') path += '/';
  path += name;
  return path;
}

std::string directory_of(std::string_view path) {
  const std::string_view parent = parent_of(path);
  return parent.empty() ? "." : std::string(parent);
}

Status sync_directory_of(const std::string& path) {
  const std::string parent = directory_of(path);
  const auto directory = open_file(parent, O_RDONLY | O_DIRECTORY);
  if (!directory) return forward(directory);
  if (::fsync(directory->get()) != 0 && errno != EINVAL && errno != ENOTSUP) return errno_error("cannot sync", parent);
  return {};
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_below(std::string_view path, std::string_view directory) {
  if (!directory.empty() && directory.back() == '/') directory.remove_suffix(1);
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

bool has_parent_step(std::string_view path) {
  for (const std::string_view part : split(path, '/'))
    if (part == "..") return true;
  return false;
}

Result<Descriptor> open_unlinked(const std::string& path, int flags) {
  struct open_how how {};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
  how.resolve = RESOLVE_NO_SYMLINKS;
  int fd = -1;
  do {
    fd = static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  if (fd >= 0) return Descriptor(fd);
  if (errno == EPERM && (flags & O_NOATIME) != 0) return open_unlinked(path, flags & ~O_NOATIME);
  if (errno != ENOSYS) return errno_error("cannot open", path);
  // Before Linux 5.6, and where a sandbox forbids the call: an instant remains between the look and the opening.
  const std::string parent(parent_of(path));
  if (const auto real = real_path(parent); !real || *real != parent) {
    errno = ELOOP;
    return errno_error("cannot open", path);
  }
  return open_file(path, flags | O_NOFOLLOW);
}

}  // namespace forebay
