#include "store/segment/directory.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace forebay::segment {
namespace {

Status sync_path(const std::string& path) {
  auto file = open_file(path, O_RDONLY);
  if (!file) return forward(file);
  if (::fsync(file->get()) != 0 && errno != EINVAL) return errno_error("cannot sync", path);
  return {};
}

}  // namespace

Status StoreDirectory::lock() {
  auto again = open_file("/proc/self/fd/" + std::to_string(segments_.get()), read_only_ ? O_RDONLY : O_RDWR);
  if (!again) return forward(again);
  lock_ = OwnFile(std::move(*again));
  // Where there are no locks, the first tier, a local one, guards the store.
  const auto taken = take_own_lock(lock_.get(), path(), read_only_);
  if (!taken) return forward(taken);
  if (*taken) return {};
  return error(Code::busy, "the store is in use by another process:", path(),
               "wait until that has closed it, or give this one another name");
}

Result<bool> StoreDirectory::exists(const std::string& pool, const std::string& name) {
  struct stat status {};
  const std::string path = join(pool, name);
  if (::stat(join(path, "store").c_str(), &status) == 0) return true;
  if (::stat(join(path, "segments").c_str(), &status) == 0) return status.st_blocks > 0;
  if (errno == EACCES) return errno_error("cannot look into", path, "it may be another user's");
  return false;
}

Result<StoreDirectory> StoreDirectory::open(const std::string& pool, const std::string& name, How how) {
  StoreDirectory directory;
  directory.pool_ = pool;
  directory.path_ = join(pool, name);
  directory.kept_ = how != How::unnamed;
  directory.read_only_ = how == How::read_only;
  if (auto ok = directory.kept_ ? directory.open_named() : directory.open_unnamed(); !ok) return forward(ok);
  return directory;
}

Status StoreDirectory::open_named() {
  const std::string file = join(path_, "segments");
  if (!read_only_) {
    struct stat status {};
    made_ = ::lstat(path_.c_str(), &status) != 0 && errno == ENOENT;
    if (auto ok = make_private_directory(path_); !ok) return ok;
  }
  auto opened = open_file(file, (read_only_ ? O_RDONLY : O_RDWR | O_CREAT) | O_NOFOLLOW);
  if (!opened) return forward(opened);
  segments_ = std::move(*opened);
  return lock();
}

Status StoreDirectory::open_unnamed() {
  if (auto opened = open_file(pool_, O_RDWR | O_TMPFILE)) {
    segments_ = std::move(*opened);
    return lock();
  } else if (opened.error().errno_value != EOPNOTSUPP && opened.error().errno_value != EISDIR) {
    return forward(opened);
  }
  std::string file = join(pool_, ".forebay-XXXXXX");
  const int fd = ::mkostemp(file.data(), O_CLOEXEC);
  if (fd < 0) return errno_error("cannot make a file in", pool_);
  segments_ = Descriptor(fd);
  if (::unlink(file.c_str()) != 0) return errno_error("cannot remove", file);
  return lock();
}

bool StoreDirectory::has_segments() const {
  struct stat status {};
  return ::fstat(segments_.get(), &status) == 0 && status.st_blocks > 0;
}

Result<std::optional<DecodedHead>> StoreDirectory::read_head() const {
  const std::string file = join(path_, "store");
  auto bytes = read_file(file, 2 * kStoreFileBytes);
  if (!bytes) {
    if (bytes.error().errno_value == ENOENT) return std::nullopt;
    if (bytes.error().errno_value == 0) return error(Code::lost, "the store is damaged, it is too long:", file);
    return forward(bytes);
  }
  auto head = decode_head(*bytes, file);
  if (!head) return forward(head);
  return std::optional(std::move(*head));
}

Status StoreDirectory::write_head(const StoreHead& head, std::uint64_t epoch, const Ledger& ledger) {
  const std::string file = join(path_, "store");
  const std::string temporary = file + ".new";
  auto opened = open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
  if (!opened) return forward(opened);
  if (auto ok = write_all(opened->get(), std::string_view(encode_head(head, epoch, ledger)), temporary); !ok) return ok;
  if (::fsync(opened->get()) != 0) return errno_error("cannot sync", temporary);
  if (::rename(temporary.c_str(), file.c_str()) != 0) return errno_error("cannot rename to", file);
  return sync_path(path_);
}

Status StoreDirectory::write_epoch(std::uint64_t store, std::uint64_t epoch) {
  const std::string path = join(path_, "store");
  auto file = open_file(path, O_WRONLY | O_NOFOLLOW);
  if (!file) return forward(file);
  const EpochLine line = epoch_line(store, epoch);
  for (const std::uint64_t at : {line.at, line.other_at}) {
    const ssize_t written = ::pwrite(file->get(), &line.line, sizeof(line.line), static_cast<off_t>(at));
    if (written != static_cast<ssize_t>(sizeof(line.line))) return errno_error("cannot write", path);
    if (::fdatasync(file->get()) != 0) return errno_error("cannot sync", path);
  }
  return {};
}

Status StoreDirectory::write_ledger(std::uint64_t store, const Ledger& ledger) {
  const std::string path = join(path_, "store");
  auto file = open_file(path, O_WRONLY | O_NOFOLLOW);
  if (!file) return forward(file);
  const std::string bytes = encode_ledger(store, ledger);
  for (std::size_t copy = 0; copy < 2; ++copy) {
    const auto part = std::as_bytes(std::span(bytes));
    if (auto ok = write_all_at(file->get(), kLedgerAt + copy * kLedgerBytes, part, path); !ok) return ok;
  }
  return {};
}

Status StoreDirectory::keep(bool kept) {
  if (kept == kept_) return {};
  if (!kept) {
    // The head first: without it nothing here counts as committed.
    for (const char* name : {"store", "store.new", "segments"}) {
      const std::string file = join(path_, name);
      if (::unlink(file.c_str()) != 0 && errno != ENOENT) return errno_error("cannot remove", file);
    }
    if (::rmdir(path_.c_str()) != 0 && errno != ENOENT) return errno_error("cannot remove", path_);
    kept_ = false;
    return {};
  }
  if (auto ok = make_private_directory(path_); !ok) return ok;
  const std::string file = join(path_, "segments");
  const std::string unnamed = "/proc/self/fd/" + std::to_string(segments_.get());
  if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, file.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    const char* const advice = errno == EEXIST   ? "another one is kept there"
                               : errno == ENOENT ? "its name was removed when it was not to be kept"
                                                 : "ask for keep when it is opened";
    auto failed = errno_error("cannot keep the store as", file, advice);
    (void)::rmdir(path_.c_str());
    return failed;
  }
  kept_ = true;
  return {};
}

Status StoreDirectory::prepare_to_keep(const StoreHead& head) {
  if (kept_) return {};
  if (auto ok = remove_what_nobody_kept(); !ok) return ok;
  struct stat status {};
  made_ = ::lstat(path_.c_str(), &status) != 0 && errno == ENOENT;
  if (auto ok = make_private_directory(path_); !ok) return ok;
  // Another store that is kept there is told of by keep().
  if (::lstat(join(path_, "segments").c_str(), &status) == 0) return {};
  return write_head(head, 0, {});
}

// Removes the files of a process that died before its heads told an epoch.
Status StoreDirectory::remove_what_nobody_kept() const {
  const auto head = read_head();
  if (!head || !*head || (*head)->epoch != 0) return {};
  auto left = open(pool_, std::string(name_of(path_)), How::named);
  if (!left) return left.error().code == Code::busy ? Status() : forward(left);
  return left->keep(false);
}

Status StoreDirectory::discard() {
  if (::ftruncate(segments_.get(), 0) != 0) return errno_error("cannot empty", path());
  return {};
}

void StoreDirectory::take_back() {
  if (!made_) return;
  for (const char* name : {"store", "store.new", "segments"}) (void)::unlink(join(path_, name).c_str());
  (void)::rmdir(path_.c_str());
  made_ = false;
}

Result<StoreHome::Room> StoreDirectory::room(std::uint64_t) const {
  struct stat status {};
  if (::fstat(segments_.get(), &status) != 0) return errno_error("cannot examine", path());
  return Room{static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(status.st_blocks) * 512};
}

std::uint64_t StoreDirectory::available() const {
  struct statvfs system {};
  return ::fstatvfs(segments_.get(), &system) == 0 ? std::uint64_t{system.f_bavail} * system.f_frsize : 0;
}

Result<std::size_t> StoreDirectory::read(std::uint64_t at, std::span<std::byte> to) const {
  const ssize_t got = ::pread(segments_.get(), to.data(), to.size(), static_cast<off_t>(at));
  if (got < 0) return errno_error("cannot read", path());
  return static_cast<std::size_t>(got);
}

}  // namespace forebay::segment
