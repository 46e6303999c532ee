#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/mutex.h"
#include "store/segment/copy.h"
#include "store/segment/medium.h"
#include "store/segment/pmem.h"

namespace forebay::segment {
namespace {

constexpr long kTmpfs = 0x01021994;
constexpr long kRamfs = static_cast<long>(0x858458f6);

// Maps `segments` of a store's directory. The way to make stores last depends on the file system beneath: nothing on
// tmpfs, a flush of cache lines on DAX, msync on anything else.
class DirectoryMemory final : public Medium {
 public:
  enum class Beneath { tmpfs, pmem, pages };

  DirectoryMemory(StoreDirectory& directory, Beneath beneath, Persist persist)
      : directory_(directory), beneath_(beneath), persist_(persist) {}

  std::string_view kind() const override {
    if (beneath_ == Beneath::pmem) return "fsdax";
    return beneath_ == Beneath::tmpfs ? "tmpfs" : "file";
  }

  Result<Mapping> make(std::uint32_t slot, std::uint64_t bytes) override {
    auto mapping = make_at(slot * bytes, bytes);
    if (mapping) {
      length_.store(std::max(length_.load(), (slot + std::uint64_t{1}) * bytes));
    } else {
      give_back(slot * bytes, bytes);
    }
    return mapping;
  }

  Result<Mapping> map(std::uint32_t slot, std::uint64_t bytes) override {
    const auto file = examine();
    if (!file) return forward(file);
    if (static_cast<std::uint64_t>(file->st_size) < (slot + std::uint64_t{1}) * bytes) {
      return error(Code::lost, fmt::format("segment {} is cut off in", slot), directory_.path());
    }
    length_.store(std::max(length_.load(), (slot + std::uint64_t{1}) * bytes));
    return map_at(slot * bytes, bytes);
  }

  Status look_at_length() const override {
    const std::uint64_t length = length_.load();  // before the file's, which another thread may make longer now
    const auto file = examine();
    if (!file) return forward(file);
    const auto bytes = static_cast<std::uint64_t>(file->st_size);
    if (bytes >= length && !cut_) return {};
    const std::string to = cut_ ? "" : fmt::format("to {} of {} ", bytes, plural(length, "byte"));
    return error(Code::lost, fmt::format("the file \"segments\" was cut {}while the store was open:", to),
                 directory_.path(), "close it; what is left is offered when it is opened again");
  }

  int store(void* to, const void* from, std::size_t bytes) noexcept override {
    if (beneath_ == Beneath::pmem) {
      persist_.copy(to, from, bytes, persist_.copy_flags);
      return 0;
    }
    if (beneath_ == Beneath::pages && durable_) {
      std::memcpy(to, from, bytes);
      return flush(to, bytes);
    }
    stream(to, from, bytes);
    return 0;
  }

  int flush(const void* from, std::size_t bytes) noexcept override {
    if (!durable_ || beneath_ == Beneath::tmpfs) return 0;
    if (beneath_ == Beneath::pmem) {
      persist_.flush(from, bytes);
      return 0;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    const std::uintptr_t first = address & ~(page_bytes() - 1);
    return ::msync(reinterpret_cast<void*>(first), address + bytes - first, MS_SYNC) == 0 ? 0 : errno;
  }

  int fence() noexcept override {
    if (durable_ && beneath_ == Beneath::pmem) {
      persist_.drain();
    } else {
      order_stores();  // and where pages are durable, flush() has synced them
    }
    return 0;
  }

  bool persistent() const override { return beneath_ != Beneath::tmpfs; }
  void set_durable(bool durable) override { durable_ = durable; }

 private:
  Result<Mapping> make_at(std::uint64_t offset, std::uint64_t bytes) {
    if (auto ok = allocate(offset, bytes); !ok) return forward(ok);
    auto mapping = map_at(offset, bytes);
    if (!mapping) return mapping;
    if (auto ok = touch(mapping->bytes, directory_.path()); !ok) return forward(ok);
    return mapping;
  }

  // Gives back what an attempt to make the last segment has taken of a medium that is too full for it.
  void give_back(std::uint64_t offset, std::uint64_t bytes) {
    const Locked lock(growing_);
    const auto file = examine();
    const std::uint64_t length = file ? static_cast<std::uint64_t>(file->st_size) : 0;
    const bool is_last = length_.load() <= offset && length >= offset && length <= offset + bytes;
    if (is_last) (void)!::ftruncate(directory_.segments(), static_cast<off_t>(offset));
  }

  Result<Mapping> map_at(std::uint64_t offset, std::uint64_t bytes) {
    if (beneath_ == Beneath::pmem) {
      auto mapped = map_persistent(directory_.segments(), offset, bytes, directory_.path());
      if (!mapped) return forward(mapped);
      if (!*mapped) return error(Code::failed, "no longer persistent memory:", directory_.path());
      return std::move((*mapped)->mapping);
    }
    const int access = directory_.read_only() ? PROT_READ : PROT_READ | PROT_WRITE;
    auto mapped = MappedFile::of(directory_.segments(), offset, bytes, access, directory_.path());
    if (!mapped) return forward(mapped);
    const auto owner = std::make_shared<MappedFile>(std::move(*mapped));
    return Mapping{owner->bytes(), owner};
  }

  // On tmpfs touching allocates, in huge pages if the mount gives them; elsewhere blocks are taken now, so that no
  // store fails later. A file that somebody cuts meanwhile must not be made whole again: it would hold zeros, and
  // nothing told. So it gets its length last, and it is looked at just before and after.
  Status allocate(std::uint64_t offset, std::uint64_t bytes) {
    const int fd = directory_.segments();
    const Locked lock(growing_);
    bool taken = beneath_ == Beneath::tmpfs;
    if (!taken) {
      taken = ::fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
      if (!taken && errno != EOPNOTSUPP) return errno_error("cannot get room for a segment in", directory_.path());
    }
    const auto before = examine();
    if (!before) return forward(before);
    if (auto ok = look_at_length(); !ok) return ok;
    if (static_cast<std::uint64_t>(before->st_size) < offset + bytes &&
        ::ftruncate(fd, static_cast<off_t>(offset + bytes)) != 0) {
      return errno_error("cannot grow the segments of", directory_.path());
    }
    const auto after = examine();
    if (!after) return forward(after);
    cut_ = cut_ || (after->st_blocks < before->st_blocks && has_lost_its_end());
    if (cut_) return look_at_length();
    const int failed = taken ? 0 : ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    if (failed == 0 || failed == EOPNOTSUPP) return {};
    errno = failed;
    return errno_error("cannot get room for a segment in", directory_.path());
  }

  // The last byte that is mapped lies in a hole, though touching has allocated it. Fewer blocks alone tell no cut: ext4
  // frees one of its own, of a list of extents, while it writes the file back.
  bool has_lost_its_end() const {
    const std::uint64_t length = length_.load();
    if (length == 0) return false;
    const auto last = static_cast<off_t>(length - 1);
    const off_t data = ::lseek(directory_.segments(), last, SEEK_DATA);
    return data < 0 ? errno == ENXIO : data != last;
  }

  Result<struct stat> examine() const {
    struct stat status {};
    if (::fstat(directory_.segments(), &status) != 0) return errno_error("cannot examine", directory_.path());
    return status;
  }
  StoreDirectory& directory_;
  Beneath beneath_;
  Persist persist_;
  bool durable_ = false;
  Guard<std::mutex> growing_;              // the file
  std::atomic<std::uint64_t> length_ = 0;  // to where the file is mapped
  std::atomic<bool> cut_ = false;          // and made longer again, so that its length tells nothing
};

}  // namespace

Result<std::unique_ptr<Medium>> memory_of_directory(StoreDirectory& directory) {
  using Beneath = DirectoryMemory::Beneath;
  struct statfs system {};
  if (::fstatfs(directory.segments(), &system) != 0) return errno_error("cannot examine", directory.path());
  if (system.f_type == kTmpfs || system.f_type == kRamfs) {
    return std::make_unique<DirectoryMemory>(directory, Beneath::tmpfs, Persist{});
  }
  if (directory.read_only()) return std::make_unique<DirectoryMemory>(directory, Beneath::pages, Persist{});
  // One page, to see whether it lies on persistent memory.
  struct stat status {};
  if (::fstat(directory.segments(), &status) != 0) return errno_error("cannot examine", directory.path());
  const auto page = static_cast<off_t>(page_bytes());
  if (status.st_size < page && ::ftruncate(directory.segments(), page) != 0) {
    return errno_error("cannot grow the segments of", directory.path());
  }
  auto probe = map_persistent(directory.segments(), 0, page_bytes(), directory.path());
  if (!probe) return forward(probe);
  if (!*probe) return std::make_unique<DirectoryMemory>(directory, Beneath::pages, Persist{});
  return std::make_unique<DirectoryMemory>(directory, Beneath::pmem, (*probe)->persist);
}

}  // namespace forebay::segment
