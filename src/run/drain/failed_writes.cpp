#include "run/drain/failed_writes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "run/contract/pages.h"

namespace forebay::drain {
namespace {

using contract::WriteErrors;

constexpr std::size_t page_bytes = contract::errors_bytes;
constexpr long xfs = 0x58465342;

WriteErrors& errors_in(const MappedFile& page) {
  return *reinterpret_cast<WriteErrors*>(page.bytes().data());
}

// False for file systems that take a write only when they have room for it, so that closing has nothing to tell. On
// others (NFS, FUSE) the server may tell of a failure as late as that.
bool closing_may_fail(const std::string& directory) {
  struct statfs status {};
  if (::statfs(directory.c_str(), &status) != 0) return true;
  const auto type = static_cast<long>(status.f_type);
  return type != TMPFS_MAGIC && type != RAMFS_MAGIC && type != EXT4_SUPER_MAGIC && type != BTRFS_SUPER_MAGIC &&
         type != xfs;
}

}  // namespace

Result<FailedWrites> FailedWrites::make(const std::string& path, const std::vector<std::string>& pools) {
  auto page = MappedFile::make(path, page_bytes);
  if (!page) return forward(page);
  FailedWrites made(std::move(*page));
  WriteErrors& errors = errors_in(made.page_);
  errors.closing_fails = std::ranges::any_of(pools, closing_may_fail) ? 1 : 0;
  errors.version = contract::version;
  return made;
}

std::optional<FailedWrites> FailedWrites::left_in(const std::string& path) {
  const auto file = open_file(path, O_RDONLY | O_NOFOLLOW);
  struct stat status {};
  if (!file || ::fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_size < static_cast<off_t>(page_bytes)) return std::nullopt;
  auto page = MappedFile::of(file->get(), 0, page_bytes, PROT_READ, path);
  if (!page || errors_in(*page).version != contract::version) return std::nullopt;
  return FailedWrites(std::move(*page));
}

std::uint64_t FailedWrites::count() const {
  return errors_in(page_).count.load(std::memory_order_acquire);
}

bool FailedWrites::is_watched() const {
  return errors_in(page_).programs.load(std::memory_order_relaxed) > 0;
}

std::optional<FailedWrites::Failure> FailedWrites::first() const {
  const WriteErrors& errors = errors_in(page_);
  for (const WriteErrors::Slot& slot : errors.slot)
    if (slot.written.load(std::memory_order_acquire) != 0)
      return Failure{slot.error, std::string(slot.path, ::strnlen(slot.path, sizeof slot.path))};
  return std::nullopt;
}

std::string pool_full_message(std::uint64_t count, const std::optional<FailedWrites::Failure>& first) {
  const bool device = first && first->error == EIO;
  std::string text = device ? "a pool failed" : "a pool ran full";
  text += " while the program was writing";
  if (count > 0) text += fmt::format(": {} failed", plural(count, "call"));
  if (first)
    text += fmt::format("{} {} ({})", count > 1 ? ", the first for" : " for", printable(first->path),
                        first->error == 0 ? "its stream has kept no reason" : std::strerror(first->error));
  text +=
      count > 0 ? ". What it wrote then may be short, even where it ended well" : ": what it wrote then may be short";
  text += ", and the times that were open are not called complete; ";
  return text + (device ? "look at the pool's device, or give the run another pool (--pool)"
                        : "give the run a larger pool (--pool, pool.budget) or write less often");
}

}  // namespace forebay::drain
