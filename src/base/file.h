// Files: descriptors, identities, whole small files, private directories, directory listings.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace forebay {

// Owns a file descriptor; closes it at the end of its life. Movable.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// Tells whether a file still is the one that was seen before. Any write, truncation, replacement, rename or change of
// mode changes at least one member (ctime cannot be set back by a user).
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  // How many names it had; 0: not known. No part of what is compared: still_is() tells what it is for.
  std::uint64_t links = 0;
  friend bool operator==(const Identity& a, const Identity& b) {
    return a.device == b.device && a.inode == b.inode && a.size == b.size && a.mtime_ns == b.mtime_ns &&
           a.ctime_ns == b.ctime_ns;
  }
};
Identity identity_of(const struct stat& status);

// Whether a file still is the one that was `known`. A name that it gets or loses changes its ctime, wherever that name
// is (of the program's other inputs, or in a copy of the case that `cp -al` made). So where the number of its names is
// another the ctime is not compared: inode, size and modification time must do. One change of the content could hide
// there: it kept the size, was followed by setting the modification time back, and came together with a change of the
// number of names. No write does that by itself, and tools that set times back (cp -p, rsync, tar) give a file the time
// of the version that they put there: the same time is the same version. A user who forges it may write the file
// anyway, and could as well do so after the run. A ctime that is 0 is not compared either.
bool still_is(const struct stat& now, const Identity& known);

// Whom a file belongs to.
struct Owner {
  uid_t user = 0;
  gid_t group = 0;
  friend bool operator==(const Owner&, const Owner&) = default;
};
Owner owner_of(const struct stat& status);
// Gives an open file an owner and a group, as far as this user may, then its mode: a setuid bit only with the owner, a
// setgid bit only with the group. False, with errno, where the mode cannot be set.
bool set_rights(int fd, Owner owner, mode_t mode);

// open(2) with O_CLOEXEC added, retried on EINTR; O_NOATIME where this user may.
Result<Descriptor> open_file(const std::string& path, int flags, mode_t mode = 0600);
Result<Descriptor> open_file_at(int directory, const std::string& path, int flags, mode_t mode = 0600);

// All of a small file (no more than `limit` bytes, else an error: nothing from outside makes us allocate without
// bound).
Result<std::string> read_file(const std::string& path, std::size_t limit = std::size_t{64} << 20);
// The bytes [offset, offset + length) of an open file, fewer at its end, continuing after short reads and EINTR.
Result<std::string> read_part(int fd, std::uint64_t offset, std::size_t length, const std::string& path_for_errors);
// Writes every byte, continuing after short writes and EINTR.
Status write_all(int fd, std::span<const std::byte> bytes, const std::string& path_for_errors);
Status write_all(int fd, std::string_view bytes, const std::string& path_for_errors);
// The same at an offset, wherever the descriptor stands; `advice` is the error's.
Status write_all_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& path_for_errors,
                    std::string_view advice = {});
// Asks the file system to begin with these bytes now, so that the sync at the end has less to wait for; 0 bytes: all
// from `offset` on. A hint: a file system that cannot does nothing.
void begin_writing_back(int fd, std::uint64_t offset, std::uint64_t bytes);
// A reader sees the old content or the new, never a part: temporary name in the same directory, then rename. The file
// is this user's alone; results that the user asked for get 0666, as far as the mask lets. Not synced: for files whose
// loss with the node does no harm.
Status replace_file(const std::string& path, std::string_view content, mode_t mode = 0600);
// By a temporary name of the caller's, who then knows what one that was killed has left.
Status replace_file_through(const std::string& temporary, const std::string& path, std::string_view content,
                            mode_t mode = 0600);

// Waits until the names in the directory of `path` are on the disk, where its file system can be told to.
Status sync_directory_of(const std::string& path);

// Makes `path` (and missing parents) as a directory of this user alone, mode 0700. A link, another owner, or a mode
// that lets others in is refused.
Status make_private_directory(const std::string& path);
// Whether `path` is a directory of this user, and no link: what others can have put there is not ours to believe.
bool is_own_directory(const std::string& path);
// The place of this user in a directory that others use, too. It need not exist. Where somebody else has taken the
// usual name, forebay-<uid>, it is one that nobody can take first: the name goes on at random.
std::string user_directory_in(const std::string& directory);
// All such places that exist, whoever had the usual name when they were made.
std::vector<std::string> user_directories_in(const std::string& directory);
// Removes a directory and all below it, whatever its owner's modes forbid, never following a link and never leaving the
// file system it starts on. Missing: ok, also when another removes it meanwhile.
Status remove_tree(const std::string& path);
// The same below an open directory: no path to it may be short enough.
Status remove_tree_at(int directory, const std::string& name, const std::string& path_for_errors);

struct DirectoryEntry {
  std::string name;
  unsigned char type;  // DT_REG, DT_DIR, DT_LNK, ...; never DT_UNKNOWN (looked up where the file system does not tell)
};
// All entries but "." and "..", sorted by name.
Result<std::vector<DirectoryEntry>> list_directory(const std::string& path);
// The same from an open directory descriptor, which stays open and owned by the caller. Where there are more than
// `at_most` it reads no further than it needs to know that.
Result<std::vector<DirectoryEntry>> list_directory(int directory, const std::string& path_for_errors,
                                                   std::size_t at_most = SIZE_MAX);

// True of a directory, and of a link that leads to one.
bool leads_to_directory(const std::string& path);
// Asks the same about an entry that was listed; `path` is the entry's.
bool leads_to_directory(const std::string& path, const DirectoryEntry& entry);

Result<std::string> read_link(const std::string& path);
// Any kind of entry counts, a link that leads nowhere too.
bool name_exists(const std::string& path);
// The status of a path, of a link its own; nullopt, and errno, where it cannot be told.
std::optional<struct stat> status_of(const std::string& path);
// Absolute, all links resolved; the path must exist.
Result<std::string> real_path(const std::string& path);

// "a/b" + "c" -> "a/b/c"; an empty part vanishes.
std::string join(std::string_view directory, std::string_view name);
// "a/b/c" -> "a/b", "c" -> "".
std::string_view parent_of(std::string_view path);
std::string_view name_of(std::string_view path);
// The directory in which a name stands: its parent, or "." without one.
std::string directory_of(std::string_view path);
// True when `path` is `directory` or lies below it, by text.
bool is_below(std::string_view path, std::string_view directory);
// True when a part of the path is "..", so that is_below() would tell nothing about where it leads.
bool has_parent_step(std::string_view path);
// For reading; refused (ELOOP) when the path or any directory on the way to it is a symbolic link. `path` is absolute.
Result<Descriptor> open_unlinked(const std::string& path, int flags);

}  // namespace forebay
