#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/page_buffer.h"
#include "run/tree/tree.h"

namespace forebay::tree {
namespace {

// Small enough that what was read is still in the core's cache when it is written, read again and compared.
constexpr std::size_t chunk_bytes = std::size_t{128} << 10;

timespec time_of(std::int64_t nanoseconds) {
  return {.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
}

// True when the file holds `expected` at `offset`.
Result<bool> holds(int fd, std::uint64_t offset, std::span<const std::byte> expected, std::span<std::byte> buffer,
                   const std::string& path) {
  for (std::size_t done = 0; done < expected.size();) {
    const ssize_t got = ::pread(fd, buffer.data(), expected.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read", path);
    if (got == 0 || std::memcmp(buffer.data(), expected.data() + done, static_cast<std::size_t>(got)) != 0)
      return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

// The attributes that users set, and the access list, as far as both file systems have them. Before the mode, whose
// bits of the group limit the list.
void copy_attributes(int from, int to) {
  const ssize_t size = ::flistxattr(from, nullptr, 0);
  if (size <= 0) return;
  std::string names(static_cast<std::size_t>(size), '\0');
  if (::flistxattr(from, names.data(), names.size()) != size) return;
  for (const std::string_view each : split(names, '\0')) {
    const std::string name(each);
    const bool is_copied = name.starts_with("user.") || name == "system.posix_acl_access";
    const ssize_t length = is_copied ? ::fgetxattr(from, name.c_str(), nullptr, 0) : -1;
    if (length < 0) continue;
    std::string value(static_cast<std::size_t>(length), '\0');
    if (::fgetxattr(from, name.c_str(), value.data(), value.size()) == length)
      (void)!::fsetxattr(to, name.c_str(), value.data(), value.size(), 0);
  }
}

// Buffers that one thread copies with.
struct Buffers {
  PageBuffer read{chunk_bytes}, again{chunk_bytes};
};

// Copies one file under a temporary name, reads what it wrote again, and renames: what bears the name is whole.
Status copy_file(const StageRequest& request, Entry& entry, Buffers& buffers, StageProgress& progress) {
  const std::string from = join(request.case_path, entry.path), to = local_path(request, entry);
  struct stat existing {};
  if (::lstat(to.c_str(), &existing) == 0 && S_ISREG(existing.st_mode)) {
    const Identity there = identity_of(existing);
    if (there.size == entry.identity.size && there.mtime_ns == entry.identity.mtime_ns) {
      progress.bytes += there.size;
      progress.kept_bytes += there.size;
      ++progress.kept_files;
      return {};
    }
  }
  auto source = open_file(from, O_RDONLY | O_NOFOLLOW);
  if (!source) return forward(source);
  const std::string temporary = temporary_path(request, entry);
  ::unlink(temporary.c_str());
  auto target = open_file(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!target) return forward(target);
  std::uint64_t bytes = 0;
  Checksum sum;
  for (;;) {
    const ssize_t got = ::read(source->get(), buffers.read.bytes().data(), chunk_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read", from);
    if (got == 0) break;
    const auto piece = buffers.read.bytes().first(static_cast<std::size_t>(got));
    if (auto written = request.write(target->get(), piece, temporary); !written) return written;
    const auto same = holds(target->get(), bytes, piece, buffers.again.bytes(), temporary);
    if (!same) return forward(same);
    if (!*same) return error(Code::failed, "the copy differs from its original:", to, "check the pool's medium");
    bytes += piece.size();
    sum.add(piece);
    progress.bytes += piece.size();
  }
  // An edit in place, of the same size too, or another file under the name.
  struct stat now {};
  if (::lstat(from.c_str(), &now) != 0) return errno_error("cannot stat", from);
  if (bytes != entry.identity.size || !still_is(now, entry.identity))
    return error(Code::conflict, "changed while it was staged:", from, "run again when nothing writes to the case");
  copy_attributes(source->get(), target->get());
  const timespec times[2] = {time_of(entry.identity.mtime_ns), time_of(entry.identity.mtime_ns)};
  if (!set_rights(target->get(), entry.owner, entry.mode) || ::futimens(target->get(), times) != 0)
    return errno_error("cannot set mode and time of", temporary);
  if (::rename(temporary.c_str(), to.c_str()) != 0) return errno_error("cannot rename to", to);
  entry.checksum = sum.value();
  return {};
}

Status make_link(const std::string& target, const std::string& path) {
  if (::symlink(target.c_str(), path.c_str()) == 0) return {};
  if (errno == EEXIST) {
    const auto present = read_link(path);
    if (present && *present == target) return {};
    errno = EEXIST;
  }
  return errno_error("cannot link", path);
}

// Archivers and make look at it; not every file system keeps it for links.
bool set_time(const std::string& path, const Entry& entry) {
  const timespec times[2] = {time_of(entry.identity.mtime_ns), time_of(entry.identity.mtime_ns)};
  return ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0;
}

Status make_entry(const StageRequest& request, const Entry& entry) {
  const std::string path = local_path(request, entry);
  switch (entry.kind) {
    case Kind::directory:
      // The owner must be able to fill it; its real mode comes last.
      if (::mkdir(path.c_str(), entry.mode | 0700) != 0 && errno != EEXIST)
        return errno_error("cannot make directory", path);
      return {};
    case Kind::link:
      return make_link(join(request.lower, entry.path), path);
    case Kind::symlink:
      if (auto made = make_link(entry.target, path); !made) return made;
      (void)set_time(path, entry);
      return {};
    case Kind::copy:
      return {};
  }
  return {};
}

// The other names of files that were copied.
Status make_names(const StageRequest& request, Inputs& inputs, StageProgress& progress) {
  std::map<std::string, std::uint64_t> checksums;
  for (const Entry& entry : inputs.entries)
    if (entry.kind == Kind::copy && entry.first.empty()) checksums[entry.path] = entry.checksum;
  for (Entry& entry : inputs.entries) {
    if (entry.first.empty()) continue;
    const std::string from = local_path(request, entry.first), to = local_path(request, entry);
    ::unlink(to.c_str());
    if (::link(from.c_str(), to.c_str()) != 0) return errno_error("cannot link", to);
    entry.checksum = checksums[entry.first];
    ++progress.files;
  }
  return {};
}

}  // namespace

std::string local_path(const StageRequest& request, const std::string& path) {
  const std::size_t above = request.below.empty() ? 0 : request.below.size() + 1;
  return join(request.local_root, path.substr(std::min(path.size(), above)));
}

std::string local_path(const StageRequest& request, const Entry& entry) {
  return local_path(request, entry.path);
}

std::string temporary_path(const StageRequest& request, const Entry& entry) {
  return join(parent_of(request.local_root), std::string(beside_prefix) + hex(checksum(entry.path)));
}

Status carry_out(const StageRequest& request, Inputs& inputs, StageProgress& progress) {
  std::vector<Entry*> copies;
  for (Entry& entry : inputs.entries) {
    if (!entry.first.empty()) continue;
    if (entry.kind == Kind::copy) {
      copies.push_back(&entry);
    } else if (auto made = make_entry(request, entry); !made) {
      return made;
    }
  }
  // Large files first, so that the threads end together.
  std::ranges::sort(copies, [](const Entry* a, const Entry* b) { return a->identity.size > b->identity.size; });
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::optional<Error> failure;
  const auto work = [&] {
    Buffers buffers;
    for (std::size_t i = next++; i < copies.size(); i = next++) {
      if (auto copied = copy_file(request, *copies[i], buffers, progress); !copied) {
        next = copies.size();
        const std::scoped_lock lock(mutex);
        if (!failure) failure = copied.error();
      }
      ++progress.files;
    }
  };
  if (!copies.empty()) {
    std::vector<std::jthread> threads;
    const std::size_t count = std::min(copies.size(), static_cast<std::size_t>(std::max(request.threads, 1)));
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
    work();
  }
  if (failure) return tl::unexpected<Error>(*failure);
  if (auto joined = make_names(request, inputs, progress); !joined) return joined;
  for (auto entry = inputs.entries.rbegin(); entry != inputs.entries.rend(); ++entry) {
    const std::string path = local_path(request, *entry);
    if (entry->kind != Kind::directory) continue;
    if (!set_time(path, *entry)) return errno_error("cannot set the time of", path);
    // A process of another user, which root's program becomes, finds its own directories; where an owner cannot be set,
    // they are root's.
    const bool given = ::geteuid() == 0 && entry->owner != Owner{} &&
                       ::lchown(path.c_str(), entry->owner.user, entry->owner.group) == 0;
    // The first may have been there: over the case's path a private directory is mounted before it is filled.
    const bool made_here = &*entry != &inputs.entries.front();
    const bool made_so = made_here && !given && (entry->mode & 0700) == 0700 && (entry->mode & ~mode_t{0777}) == 0;
    if (!made_so && ::chmod(path.c_str(), entry->mode) != 0) return errno_error("cannot set the mode of", path);
  }
  return {};
}

Result<std::vector<std::string>> show_beside(const std::string& case_path, const std::string& tree) {
  const std::string directory = directory_of(case_path);
  std::vector<std::string> names;
  const auto entries = list_directory(directory);
  if (!entries) return names;  // to the program it is closed, too
  for (const DirectoryEntry& entry : *entries) {
    if (entry.name == name_of(case_path) || entry.name == name_of(tree)) continue;
    if (auto made = make_link(join(directory, entry.name), join(parent_of(tree), entry.name)); !made)
      return forward(made);
    names.push_back(entry.name);
  }
  return names;
}

void note_copies(const StageRequest& request, std::vector<Entry>& entries) {
  for (Entry& entry : entries) {
    if (entry.kind != Kind::copy) continue;
    const auto status = status_of(local_path(request, entry));
    if (status) entry.copied = {status->st_ino, identity_of(*status).ctime_ns};
  }
}

}  // namespace forebay::tree
