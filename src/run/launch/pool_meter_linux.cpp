#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <unordered_set>
#include <utility>

#include "run/launch/kept_sets.h"
#include "run/launch/pool_meter.h"
#include "run/launch/pool_run.h"

namespace forebay::launch {
namespace {

constexpr const char* claim_name = "claim";
// A pool with fewer inodes than this does not give all that a step asks for.
constexpr std::uint64_t few_inodes = 4;
constexpr std::uint64_t block_bytes = 512;  // of st_blocks

// The lock is of the open file, and goes with its process.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Asked, not taken: its agent must never find it taken.
bool is_claimed(const Descriptor& file) {
  struct flock lock = whole_file();
  return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::optional<Claim> claim_in(const std::string& path) {
  const auto file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  Claim claim;
  if (!file || !is_claimed(*file)) return std::nullopt;
  if (::pread(file->get(), &claim, sizeof claim, 0) != static_cast<ssize_t>(sizeof claim)) return std::nullopt;
  return claim;
}

// Allocated bytes below some directories, found a part at a time.
class Count {
 public:
  explicit Count(const std::vector<std::string>& directories) : open_(directories) {}

  // True when it is through.
  bool go_on(std::size_t entries) {
    for (; entries > 0; --entries) {
      if (next_ == listed_.size()) {
        if (open_.empty()) return true;
        begin_directory();
      } else {
        add(listed_[next_++]);
      }
    }
    return false;
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void begin_directory() {
    now_ = std::move(open_.back());
    open_.pop_back();
    next_ = 0;
    listed_.clear();
    if (auto entries = list_directory(now_)) listed_ = std::move(*entries);
  }
  void add(const DirectoryEntry& entry) {
    if (entry.type == DT_LNK) return;  // the many links to inputs have next to nothing
    std::string path = join(now_, entry.name);
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return;
    if (device_ == 0) device_ = status.st_dev;
    if (status.st_dev != device_) return;
    if (S_ISDIR(status.st_mode)) {
      open_.push_back(std::move(path));
    } else if (status.st_nlink > 1 && !several_names_.insert(status.st_ino).second) {
      return;
    }
    bytes_ += static_cast<std::uint64_t>(status.st_blocks) * block_bytes;
  }

  std::vector<std::string> open_;  // still to be read
  std::string now_;
  std::vector<DirectoryEntry> listed_;
  std::size_t next_ = 0;
  dev_t device_ = 0;
  std::unordered_set<ino_t> several_names_;
  std::uint64_t bytes_ = 0;
};

class Meter final : public PoolMeter {
 public:
  Meter(std::string path, std::vector<std::string> directories, Descriptor pool, Descriptor claim, dev_t mount)
      : path_(std::move(path)),
        directories_(std::move(directories)),
        pool_(std::move(pool)),
        claim_(std::move(claim)),
        mount_(mount) {}

  // By descriptor: to find the path takes most of the time.
  Room room() override {
    struct statvfs status {};
    if (::fstatvfs(pool_.get(), &status) != 0) return {UINT64_MAX};
    // A file system without a table of inodes tells 0 of 0.
    return {static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize,
            status.f_files == 0 || status.f_favail >= few_inodes};
  }

  std::optional<std::uint64_t> count(std::size_t entries) override {
    if (!counting_) counting_.emplace(directories_);
    if (!counting_->go_on(entries)) return std::nullopt;
    return std::exchange(counting_, std::nullopt)->bytes();
  }

  std::vector<Claim> exchange(const Claim& own) override {
    if (own != told_ && ::pwrite(claim_.get(), &own, sizeof own, 0) == static_cast<ssize_t>(sizeof own)) told_ = own;
    std::vector<Claim> others;
    const std::string own_run(parent_of(directories_.front()));
    for (const std::string& user : user_directories_in(path_)) {
      const auto runs = list_directory(user);
      if (!runs) continue;
      for (const DirectoryEntry& run : *runs) {
        const std::string directory = join(user, run.name);
        if (run.type == DT_DIR && is_run_name(run.name) && directory != own_run) add_claims(directory, others);
      }
    }
    return others;
  }

  std::uint64_t mount() const override { return mount_; }

 private:
  static void add_claims(const std::string& run, std::vector<Claim>& claims) {
    const auto sockets = list_directory(run);
    if (!sockets) return;
    for (const DirectoryEntry& socket : *sockets)
      if (socket.type == DT_DIR)
        if (const auto claim = claim_in(join(join(run, socket.name), claim_name))) claims.push_back(*claim);
  }

  const std::string path_;
  const std::vector<std::string> directories_;
  const Descriptor pool_, claim_;
  const dev_t mount_;
  std::optional<Count> counting_;
  Claim told_;
};

}  // namespace

Result<std::unique_ptr<PoolMeter>> measure_pool(const std::string& path, const std::vector<std::string>& directories) {
  auto pool = open_file(path, O_PATH | O_DIRECTORY);
  if (!pool) return forward(pool);
  struct stat status {};
  if (::fstat(pool->get(), &status) != 0) return errno_error("cannot stat", path);
  const std::string claim_path = join(directories.front(), claim_name);
  auto claim = open_file(claim_path, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (!claim) return forward(claim);
  struct flock lock = whole_file();
  if (::fcntl(claim->get(), F_OFD_SETLK, &lock) != 0) return errno_error("cannot lock", claim_path);
  return std::make_unique<Meter>(path, directories, std::move(*pool), std::move(*claim), status.st_dev);
}

}  // namespace forebay::launch
