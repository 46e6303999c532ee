#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "segment/copy.h"
#include "segment/medium.h"

namespace forebay::segment {
namespace {

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

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

}  // namespace

std::unique_ptr<Medium> memory_of_process() {
  return std::make_unique<ProcessMemory>();
}

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

Status touch(std::span<std::byte> bytes, const std::string& path) {
  if (bytes.size() >= kHugePage) ::madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kPiece = std::size_t{8} << 20;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const std::size_t piece = std::min(kPiece, bytes.size() - at);
    int failed = 0;
    do {
      failed = ::madvise(bytes.data() + at, piece, MADV_POPULATE_WRITE);
    } while (failed != 0 && (errno == EINTR || errno == EAGAIN));
    if (failed == 0) continue;
    if (errno == EINVAL) break;           // a kernel before 5.14
    if (errno == EFAULT) errno = ENOSPC;  // what a plain store would be told by SIGBUS
    return errno_error("cannot get room for a segment in", path.empty() ? "memory" : path);
  }
#endif
  for (std::size_t at = 0; at < bytes.size(); at += page_bytes()) {
    // Writes what is there: content stays, and the page is writable afterwards.
    auto* byte = reinterpret_cast<volatile char*>(bytes.data() + at);
    *byte = *byte;
  }
  return {};
}

}  // namespace forebay::segment
