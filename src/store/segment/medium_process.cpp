#include <linux/mman.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "store/segment/copy.h"
#include "store/segment/medium.h"

namespace forebay::segment {
namespace {

// Anonymous memory: gone with the process, so nothing needs to be flushed.
class ProcessMemory final : public Medium {
 public:
  std::string_view kind() const override { return "dram"; }

  Result<Mapping> make(std::uint32_t, std::uint64_t bytes) override {
    // Aligned to huge pages where it is large enough for one.
    const std::uint64_t slack = bytes >= kHugePage ? kHugePage : 0;
    void* address = ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) return errno_error("cannot get memory for a segment", "");
    std::shared_ptr<void> owner(address, [size = bytes + slack](void* at) { ::munmap(at, size); });
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t start = slack != 0 ? (first + slack - 1) / slack * slack : first;
    Mapping mapping{{static_cast<std::byte*>(address) + (start - first), bytes}, std::move(owner)};
    if (auto ok = touch(mapping.bytes, ""); !ok) return forward(ok);
    return mapping;
  }

  Result<Mapping> map(std::uint32_t, std::uint64_t) override {
    return error(Code::failed, "memory of a process does not outlive it");
  }

  int store(void* to, const void* from, std::size_t bytes) noexcept override {
    stream(to, from, bytes);
    return 0;
  }
  int flush(const void*, std::size_t) noexcept override { return 0; }
  int fence() noexcept override {
    order_stores();
    return 0;
  }
  bool persistent() const override { return false; }
  void set_durable(bool) override {}
};

#ifdef MADV_POPULATE_WRITE
// As with plain stores, but a full medium is an error and no signal. 0, or an errno: EINVAL of a kernel before 5.14.
int populate(std::span<std::byte> bytes) {
  int failed = 0;
  do {
    failed = ::madvise(bytes.data(), bytes.size(), MADV_POPULATE_WRITE);
  } while (failed != 0 && (errno == EINTR || errno == EAGAIN));
  return failed == 0 ? 0 : errno;
}
#endif

// Shared memory comes in small pages where the administrator said nothing else, and then making them and mapping them
// into every process takes ten times as long as filling them. A process that has memory mapped may have it put together
// into huge pages, though: each needs a small one that is there, and lies in the file as in memory (MappedFile). It is
// advice: pages that cannot be had stay small.
void put_together([[maybe_unused]] std::span<std::byte> bytes) {
  ::madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);
#if defined(MADV_POPULATE_WRITE) && defined(MADV_COLLAPSE)
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(bytes.data()) % kHugePage;
  if (before >= bytes.size()) return;
  const std::span whole = bytes.subspan(before, (bytes.size() - before) / kHugePage * kHugePage);
  for (std::size_t at = 0; at < whole.size(); at += kHugePage) {
    if (populate(whole.subspan(at, page_bytes())) != 0) return;
  }
  if (!whole.empty()) ::madvise(whole.data(), whole.size(), MADV_COLLAPSE);
#endif
}

}  // namespace

std::unique_ptr<Medium> memory_of_process() {
  return std::make_unique<ProcessMemory>();
}

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

Status touch(std::span<std::byte> bytes, const std::string& path) {
  if (bytes.size() >= kHugePage) put_together(bytes);
  std::size_t at = 0;
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kPiece = std::size_t{8} << 20;
  for (; at < bytes.size(); at += kPiece) {
    const int failed = populate(bytes.subspan(at, std::min(kPiece, bytes.size() - at)));
    if (failed == EINVAL) break;
    if (failed == 0) continue;
    errno = failed == EFAULT ? ENOSPC : failed;  // what a plain store would be told by SIGBUS
    return errno_error("cannot get room for a segment in", path.empty() ? "memory" : path);
  }
#endif
  for (; at < bytes.size(); at += page_bytes()) {
    // Writes what is there: content stays, and the page is writable afterwards.
    auto* byte = reinterpret_cast<volatile char*>(bytes.data() + at);
    *byte = *byte;
  }
  return {};
}

}  // namespace forebay::segment
