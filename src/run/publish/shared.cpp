#include "run/publish/shared.h"

#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "base/present_path.h"
#include "base/pulse.h"
namespace forebay::drain {
namespace {

constexpr std::uint64_t resolve_flags = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;

std::string_view advice_for(int errno_value) {
  switch (errno_value) {
    case ELOOP:
      return "a symbolic link is in the way, and forebay follows none on the case; replace it by a directory";
    case ENOSPC:
    case EDQUOT:
      return "make room on the shared file system; nothing is lost meanwhile";
    case EROFS:
    case EACCES:
    case EPERM:
      return "make the case writable; nothing is lost meanwhile";
    default:
      return {};
  }
}

// A path of names only: nothing absolute, no ".", "..", or empty component, so that no kernel is ever asked to leave.
bool stays_below(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  for (const std::string_view name : split(path, '/'))
    if (name.empty() || name == "." || name == "..") return false;
  return true;
}

int open_how(int root, const char* path, int flags, mode_t mode) {
  struct open_how how {};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = resolve_flags;
  int fd = -1;
  do {
    fd = static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how));
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  return fd;
}

int open_name(int directory, const char* name, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// Some file systems (FUSE, NFS, old kernels) know rename without flags only.
bool lacks_flags(int errno_value) {
  return errno_value == EINVAL || errno_value == ENOSYS || errno_value == EOPNOTSUPP;
}

class CaseFiles final : public SharedFiles {
 public:
  // `status` is that of the open root.
  CaseFiles(Descriptor root, const struct stat& status, std::string path, bool by_kernel,
            std::optional<std::uint64_t> device, std::map<std::string, std::shared_ptr<Descriptor>> linked)
      : root_(std::make_shared<Descriptor>(std::move(root))),
        inode_(status.st_ino),
        device_now_(status.st_dev),
        device_(device.value_or(status.st_dev)),
        case_path_(std::move(path)),
        by_kernel_(by_kernel),
        linked_(std::move(linked)) {}

  std::string case_path() const override { return present_path(root()->get(), case_path_).value_or(case_path_); }

  Result<Descriptor> create(const std::string& path, mode_t mode) override {
    const MayHang call(full(path));
    return open(path, O_WRONLY | O_CREAT | O_EXCL, mode, "cannot make");
  }

  Result<Descriptor> open_to_append(const std::string& path, std::uint64_t offset) override {
    auto file = open(path, O_WRONLY | O_NONBLOCK, 0, "cannot open");
    if (file && ::lseek(file->get(), static_cast<off_t>(offset), SEEK_SET) < 0) return failed("cannot seek in", path);
    return file;
  }

  Result<Descriptor> open_read(const std::string& path) override {
    const MayHang call(full(path));
    auto file = open(path, O_RDONLY | O_NONBLOCK, 0, "cannot open");
    if (file) (void)::posix_fadvise(file->get(), 0, 0, POSIX_FADV_DONTNEED);
    return file;
  }

  Result<std::size_t> write(int fd, std::span<const std::byte> bytes, const std::string& path) override {
    const MayHang call(full(path));
    for (;;) {
      const ssize_t put = ::write(fd, bytes.data(), bytes.size());
      if (put >= 0) return static_cast<std::size_t>(put);
      if (errno != EINTR) return failed("cannot write", path);
    }
  }

  Result<std::size_t> read(int fd, std::span<std::byte> bytes, const std::string& path) override {
    const MayHang call(full(path));
    for (;;) {
      const ssize_t got = ::read(fd, bytes.data(), bytes.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return failed("cannot read", path);
    }
  }

  Status set_owner(int fd, uid_t owner, gid_t group, const std::string& path) override {
    const MayHang call(full(path));
    if (::fchown(fd, owner, group) == 0) return {};
    return done(::fchown(fd, static_cast<uid_t>(-1), group), "cannot set the group of", path);
  }

  Status set_mode(int fd, mode_t mode, const std::string& path) override {
    const MayHang call(full(path));
    return done(::fchmod(fd, mode), "cannot set the mode of", path);
  }

  Status set_times(int fd, std::int64_t mtime_ns, const std::string& path) override {
    const MayHang call(full(path));
    const Times times(mtime_ns);
    return done(::futimens(fd, times.both), "cannot set the time of", path);
  }

  Result<struct stat> status(int fd, const std::string& path) override {
    const MayHang call(full(path));
    struct stat found {};
    if (::fstat(fd, &found) != 0) return failed("cannot stat", path);
    return as_noted(found);
  }

  Status sync(int fd, const std::string& path) override {
    const MayHang call(full(path));
    return done(::fsync(fd), "cannot sync", path);
  }

  Status sync_directory(const std::string& path) override {
    const MayHang call(full(path));
    auto directory = open_directory(path);
    if (!directory) return forward(directory);
    return done(::fsync(directory->get()), "cannot sync directory", path);
  }

  Status make_directory(const std::string& path, mode_t mode) override {
    const MayHang call(full(path));
    auto at = entry(path);
    if (!at) return forward(at);
    return done(::mkdirat(at->directory, at->name.c_str(), mode), "cannot make directory", path);
  }

  Status finish_directory(const std::string& path, mode_t mode, std::optional<std::int64_t> mtime_ns,
                          std::optional<Owner> owner) override {
    const MayHang call(full(path));
    auto directory = open_directory(path);
    if (!directory) return forward(directory);
    if (owner) {
      (void)set_owner(directory->get(), owner->user, owner->group, path);
      const auto now = status(directory->get(), path);
      if (!now) return forward(now);
      if (now->st_gid != owner->group && (now->st_mode & S_ISGID) == 0) mode &= ~mode_t{S_ISGID};
    }
    if (::fchmod(directory->get(), mode) != 0) return failed("cannot set the mode of", path);
    if (mtime_ns)
      if (auto timed = set_times(directory->get(), *mtime_ns, path); !timed) return timed;
    return done(::fsync(directory->get()), "cannot sync directory", path);
  }

  Result<std::vector<DirectoryEntry>> list(const std::string& path, std::size_t at_most) override {
    const MayHang call(full(path));
    auto directory = open_directory(path);
    if (!directory) return forward(directory);
    return list_directory(directory->get(), full(path), at_most);
  }

  Status make_link(const std::string& target, const std::string& path) override {
    const MayHang call(full(path));
    auto at = entry(path);
    if (!at) return forward(at);
    return done(::symlinkat(target.c_str(), at->directory, at->name.c_str()), "cannot make link", path);
  }

  Status make_hard_link(const std::string& from, const std::string& to) override {
    const MayHang call(full(to));
    auto both = entries(from, to);
    if (!both) return forward(both);
    const auto& [source, target] = *both;
    return done(::linkat(source.directory, source.name.c_str(), target.directory, target.name.c_str(), 0),
                "cannot make the hard link", to);
  }

  Status set_link_owner(const std::string& path, Owner owner) override {
    const MayHang call(full(path));
    auto at = entry(path);
    if (!at) return forward(at);
    return done(::fchownat(at->directory, at->name.c_str(), owner.user, owner.group, AT_SYMLINK_NOFOLLOW),
                "cannot set the owner of", path);
  }

  Status set_link_times(const std::string& path, std::int64_t mtime_ns) override {
    const MayHang call(full(path));
    auto at = entry(path);
    if (!at) return forward(at);
    const Times times(mtime_ns);
    return done(::utimensat(at->directory, at->name.c_str(), times.both, AT_SYMLINK_NOFOLLOW), "cannot set the time of",
                path);
  }

  Result<std::optional<struct stat>> status(const std::string& path) override {
    const MayHang call(full(path));
    if (const auto linked = linked_.find(path); linked != linked_.end()) {
      const auto found = status(linked->second->get(), path);
      if (!found) return forward(found);
      return *found;
    }
    auto at = entry(path);
    if (!at && at.error().errno_value == ENOENT) return std::nullopt;
    if (!at) return forward(at);
    struct stat found {};
    if (::fstatat(at->directory, at->name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) return as_noted(found);
    if (errno == ENOENT) return std::nullopt;
    return failed("cannot stat", path);
  }

  Result<std::string> read_link(const std::string& path) override {
    const MayHang call(full(path));
    auto at = entry(path);
    if (!at) return forward(at);
    char text[4097];
    const ssize_t length = ::readlinkat(at->directory, at->name.c_str(), text, sizeof text);
    if (length < 0) return failed("cannot read link", path);
    return std::string(text, static_cast<std::size_t>(length));
  }

  Status rename_new(const std::string& from, const std::string& to) override {
    const MayHang call(full(to));
    auto both = entries(from, to);
    if (!both) return forward(both);
    const auto& [source, target] = *both;
    if (!flags_missing_.load(std::memory_order_relaxed)) {
      if (rename(source, target, RENAME_NOREPLACE) == 0) return {};
      if (!lacks_flags(errno)) return failed("cannot rename to", to);
      flags_missing_.store(true, std::memory_order_relaxed);
    }
    return rename_new_by_link(source, target, to);
  }

  Status exchange(const std::string& a, const std::string& b) override {
    const MayHang call(full(b));
    auto both = entries(a, b);
    if (!both) return forward(both);
    return done(rename(both->first, both->second, RENAME_EXCHANGE), "cannot exchange with", b);
  }

  Status rename_over(const std::string& from, const std::string& to) override {
    const MayHang call(full(to));
    auto both = entries(from, to);
    if (!both) return forward(both);
    return done(rename(both->first, both->second, 0), "cannot rename to", to);
  }

  Status remove_file(const std::string& path) override {
    const MayHang call(full(path));
    auto at = entry(path);
    if (!at) return forward(at);
    return done(::unlinkat(at->directory, at->name.c_str(), 0), "cannot remove", path);
  }

  Status remove_directory(const std::string& path) override {
    const MayHang call(full(path));
    auto at = entry(path);
    if (!at) return forward(at);
    const int flags = linked_.contains(path) ? 0 : AT_REMOVEDIR;  // of a link the link goes
    return done(::unlinkat(at->directory, at->name.c_str(), flags), "cannot remove directory", path);
  }

 private:
  struct Times {
    explicit Times(std::int64_t mtime_ns) {
      constexpr std::int64_t second = 1'000'000'000;
      const std::int64_t rest = ((mtime_ns % second) + second) % second;
      both[1] = {static_cast<time_t>((mtime_ns - rest) / second), static_cast<long>(rest)};
    }
    struct timespec both[2] = {{0, UTIME_OMIT}, {0, 0}};
  };

  // A name in an open directory. Directories are looked up anew for each call: the kernel's cache makes that cheap, and
  // a directory that the user moved away meanwhile is not written to.
  struct Entry {
    std::shared_ptr<Descriptor> root;  // stays open meanwhile
    Descriptor own;                    // none where the directory is the case itself, or another entry's
    int directory = -1;
    std::string name;
  };

  std::string full(const std::string& path) const { return join(case_path_, path); }

  tl::unexpected<Error> failed(std::string_view what, const std::string& path) const {
    const int reason = errno;
    const std::string now = join(case_path(), path);
    errno = reason;
    return errno_error(what, now, advice_for(reason));
  }

  Status done(int result, std::string_view what, const std::string& path) const {
    if (result != 0) return failed(what, path);
    return {};
  }

  std::shared_ptr<Descriptor> root() const {
    const std::scoped_lock lock(root_mutex_);
    return root_;
  }

  // Where a path begins, and the rest of it from there; "" is the directory itself.
  std::pair<std::shared_ptr<Descriptor>, std::string> beginning(const std::string& path) const {
    const std::size_t end = path.find('/');
    const auto linked = linked_.empty() ? linked_.end() : linked_.find(path.substr(0, end));
    if (linked == linked_.end()) return {root(), path};
    return {linked->second, end == std::string::npos ? std::string() : path.substr(end + 1)};
  }

  // True when the case could be opened anew, so that what failed is worth another try.
  bool reopen() const {
    const Descriptor fresh(open_name(AT_FDCWD, case_path_.c_str(), O_RDONLY | O_DIRECTORY, 0));
    struct stat status {};
    if (!fresh || ::fstat(fresh.get(), &status) != 0 || status.st_ino != inode_) return false;
    const std::scoped_lock lock(root_mutex_);
    struct stat opened {};
    if (::fstat(root_->get(), &opened) == 0 && opened.st_dev == status.st_dev && opened.st_ino == status.st_ino)
      return false;
    root_ = std::make_shared<Descriptor>(::fcntl(fresh.get(), F_DUPFD_CLOEXEC, 0));
    device_now_ = status.st_dev;
    return true;
  }

  struct stat as_noted(struct stat found) const {
    if (found.st_dev == device_now_) found.st_dev = device_;
    return found;
  }

  Result<Descriptor> open(const std::string& path, int flags, mode_t mode, std::string_view what) const {
    if (!path.empty() && !stays_below(path))
      return error(Code::bad_input, "not a name below the case:", path,
                   "names with . or .. or empty parts are refused");
    for (bool again = false;; again = true) {
      const auto [at, rest] = beginning(path);
      const int fd = rest.empty() ? open_name(at->get(), ".", flags, mode)
                     : by_kernel_ ? open_how(at->get(), rest.c_str(), flags, mode)
                                  : open_by_components(at->get(), rest, flags, mode);
      if (fd >= 0) return Descriptor(fd);
      const int reason = errno;
      const bool stale = reason == ENOTCONN || reason == ESTALE || reason == EIO;
      if (again || !stale || !reopen()) {
        errno = reason;
        return failed(what, path);
      }
    }
  }

  Result<Descriptor> open_directory(const std::string& path) const {
    return open(path, O_RDONLY | O_DIRECTORY, 0, "cannot open directory");
  }

  // Every component opened on its own, none of them a link.
  static int open_by_components(int root, const std::string& path, int flags, mode_t mode) {
    Descriptor directory;
    int at = root;
    std::string_view rest = path;
    for (;;) {
      const std::size_t end = rest.find('/');
      const std::string name(rest.substr(0, end));
      if (end == std::string_view::npos) return refuse_link(at, name, open_name(at, name.c_str(), flags, mode));
      Descriptor next(refuse_link(at, name, open_name(at, name.c_str(), O_PATH | O_DIRECTORY, 0)));
      if (!next) return -1;
      directory = std::move(next);
      at = directory.get();
      rest.remove_prefix(end + 1);
    }
  }

  // A link where a directory is asked for gives ENOTDIR; the user is told of the link, as openat2 does.
  static int refuse_link(int directory, const std::string& name, int fd) {
    if (fd >= 0 || errno != ENOTDIR) return fd;
    struct stat found {};
    errno = ::fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode) ? ELOOP
                                                                                                           : ENOTDIR;
    return -1;
  }

  Result<Entry> entry(const std::string& path) const {
    if (!stays_below(path))
      return error(Code::bad_input, "not a name below the case:", path,
                   "names with . or .. or empty parts are refused");
    const std::string parent(parent_of(path));
    if (parent.empty()) {
      // Nothing is opened on the way, so this tells whether the root is still connected.
      auto at = root();
      struct stat found {};
      if (::fstat(at->get(), &found) != 0 && reopen()) at = root();
      const int fd = at->get();
      return Entry{std::move(at), {}, fd, path};
    }
    auto directory = open(parent, O_PATH | O_DIRECTORY, 0, "cannot open the directory of");
    if (!directory) return forward(directory);
    const int fd = directory->get();
    return Entry{{}, std::move(*directory), fd, std::string(name_of(path))};
  }

  Result<std::pair<Entry, Entry>> entries(const std::string& a, const std::string& b) const {
    auto first = entry(a);
    if (!first) return forward(first);
    if (parent_of(a) == parent_of(b) && stays_below(b)) {
      Entry beside{{}, {}, first->directory, std::string(name_of(b))};
      return std::pair(std::move(*first), std::move(beside));
    }
    auto second = entry(b);
    if (!second) return forward(second);
    return std::pair(std::move(*first), std::move(*second));
  }

  static int rename(const Entry& from, const Entry& to, unsigned flags) {
    return ::renameat2(from.directory, from.name.c_str(), to.directory, to.name.c_str(), flags);
  }

  Status rename_new_by_link(const Entry& from, const Entry& to, const std::string& to_path) const {
    struct stat found {};
    if (::fstatat(from.directory, from.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0)
      return failed("cannot rename to", to_path);
    if (!S_ISDIR(found.st_mode)) {
      if (::linkat(from.directory, from.name.c_str(), to.directory, to.name.c_str(), 0) == 0)
        return done(::unlinkat(from.directory, from.name.c_str(), 0), "cannot remove the temporary name of", to_path);
      if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
        return failed("cannot link to", to_path);
    }
    // The two calls below cannot be made atomic here. A directory that appears between them is replaced only when it is
    // empty; a file could be lost in that instant, on file systems that know neither flags nor links.
    if (::fstatat(to.directory, to.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) {
      errno = EEXIST;
      return failed("cannot rename to", to_path);
    }
    if (errno != ENOENT) return failed("cannot stat", to_path);
    return done(rename(from, to, 0), "cannot rename to", to_path);
  }

  mutable std::mutex root_mutex_;
  mutable std::shared_ptr<Descriptor> root_;
  const ino_t inode_;
  mutable std::atomic<dev_t> device_now_;
  const dev_t device_;
  const std::string case_path_;
  const bool by_kernel_;
  const std::map<std::string, std::shared_ptr<Descriptor>> linked_;
  std::atomic<bool> flags_missing_{false};
};

}  // namespace

Result<std::unique_ptr<SharedFiles>> open_shared(const std::string& case_path, Resolve resolve,
                                                 std::optional<std::uint64_t> device,
                                                 const std::vector<LinkedDirectory>& linked) {
  auto root = open_file(case_path, O_RDONLY | O_DIRECTORY);
  if (!root) return forward(root);
  struct stat status {};
  if (::fstat(root->get(), &status) != 0) return errno_error("cannot stat", case_path);
  bool by_kernel = false;
  if (resolve == Resolve::by_kernel) {
    const Descriptor probe(open_how(root->get(), ".", O_PATH | O_DIRECTORY, 0));
    by_kernel = static_cast<bool>(probe);
  }
  std::map<std::string, std::shared_ptr<Descriptor>> behind;
  for (const LinkedDirectory& each : linked) {
    auto directory = open_file(each.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!directory) return forward(directory);
    struct stat found {};
    if (::fstat(directory->get(), &found) != 0) return errno_error("cannot stat", each.path);
    if (found.st_ino != each.inode)
      return error(Code::conflict, "another directory than when the run began:", each.path,
                   "the case's link " + printable(each.name) + " led to it; put back what was there");
    behind[each.name] = std::make_shared<Descriptor>(std::move(*directory));
  }
  return std::make_unique<CaseFiles>(std::move(*root), status, case_path, by_kernel, device, std::move(behind));
}

}  // namespace forebay::drain
