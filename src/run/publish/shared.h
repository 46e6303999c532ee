// The seam to the shared file system: every system call that the drain makes on a case goes through here, so that a
// test can let the n-th one fail, be short, or be slow. Paths are relative to the case; none leaves it and no link is
// followed, in any component (openat2 with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, component by component where that is
// missing). Links that were named when it was opened are the exception: these are shown as the directories that they
// lead to.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::drain {

// A name right in the case that is a link to a directory: what is below it lies there.
struct LinkedDirectory {
  std::string name, path;  // the path without links
  std::uint64_t inode = 0;
};

// Thread-safe. Every call may block for as long as the file system does.
class SharedFiles {
 public:
  virtual ~SharedFiles() = default;

  // The path by which people reach the case now: it may have been renamed. The one that it was opened by, where it is
  // not there any more. The file system is not asked.
  virtual std::string case_path() const = 0;
  // A new file (O_EXCL) for writing.
  virtual Result<Descriptor> create(const std::string& path, mode_t mode) = 0;
  // A file that is there, for writing from the byte `offset` on.
  virtual Result<Descriptor> open_to_append(const std::string& path, std::uint64_t offset) = 0;
  // For reading what the file system has: pages cached by this node are dropped first where the kernel allows it.
  virtual Result<Descriptor> open_read(const std::string& path) = 0;
  // Makes one write, which may be short. The result is the number of bytes written.
  virtual Result<std::size_t> write(int fd, std::span<const std::byte> bytes, const std::string& path) = 0;
  virtual Result<std::size_t> read(int fd, std::span<std::byte> bytes, const std::string& path) = 0;
  // As far as this user may: the group alone where the owner is another one. May take set-id bits away.
  virtual Status set_owner(int fd, uid_t owner, gid_t group, const std::string& path) = 0;
  virtual Status set_mode(int fd, mode_t mode, const std::string& path) = 0;
  virtual Status set_times(int fd, std::int64_t mtime_ns, const std::string& path) = 0;
  virtual Result<struct stat> status(int fd, const std::string& path) = 0;
  virtual Status sync(int fd, const std::string& path) = 0;
  // fsync of a directory, so that its names are durable.
  virtual Status sync_directory(const std::string& path) = 0;
  virtual Status make_directory(const std::string& path, mode_t mode) = 0;
  // The final mode of a directory, and the time if it is to have one, then its fsync: through one descriptor, since the
  // mode may forbid to open it again.
  // `owner`: as for set_owner; a setgid bit for a group that could not be given is left out.
  virtual Status finish_directory(const std::string& path, mode_t mode,
                                  std::optional<std::int64_t> mtime_ns = std::nullopt,
                                  std::optional<Owner> owner = std::nullopt) = 0;
  // Where there are more than `at_most` it reads no further than it needs to know that.
  virtual Result<std::vector<DirectoryEntry>> list(const std::string& path, std::size_t at_most = SIZE_MAX) = 0;
  virtual Status make_link(const std::string& target, const std::string& path) = 0;
  // A second name of a file; EPERM, EMLINK, EOPNOTSUPP or ENOSYS where the file system makes none.
  virtual Status make_hard_link(const std::string& from, const std::string& to) = 0;
  virtual Status set_link_owner(const std::string& path, Owner owner) = 0;
  virtual Status set_link_times(const std::string& path, std::int64_t mtime_ns) = 0;
  // nullopt when it does not exist. Never follows a link.
  virtual Result<std::optional<struct stat>> status(const std::string& path) = 0;
  virtual Result<std::string> read_link(const std::string& path) = 0;
  // Fails with EEXIST rather than replace anything (renameat2 RENAME_NOREPLACE, else link + unlink for files, else a
  // check and a rename for directories, which cannot replace one that holds anything).
  virtual Status rename_new(const std::string& from, const std::string& to) = 0;
  // Exchanges two names; ENOSYS or EINVAL where the file system cannot.
  virtual Status exchange(const std::string& a, const std::string& b) = 0;
  virtual Status rename_over(const std::string& from, const std::string& to) = 0;
  virtual Status remove_file(const std::string& path) = 0;
  virtual Status remove_directory(const std::string& path) = 0;
};

// How the real one finds a path: by openat2 where the kernel has it, or always component by component (for tests).
enum class Resolve { by_kernel, by_component };

// The real one, beneath the directory `case_path`, which is held open. When the file system was mounted anew (ENOTCONN,
// ESTALE, EIO on what was held), it is opened again, if it still is the same directory by its inode: never what lies
// under a mount that went away. `device`: the number that the case had when its identities were noted; it is told for
// files of the case ever after, since a mount of a network file system gets a new one each time. `linked`: names right
// in the case that are links; what they lead to now is held open, and must be the directory that was noted.
Result<std::unique_ptr<SharedFiles>> open_shared(const std::string& case_path, Resolve resolve = Resolve::by_kernel,
                                                 std::optional<std::uint64_t> device = std::nullopt,
                                                 const std::vector<LinkedDirectory>& linked = {});

}  // namespace forebay::drain
