#include "arrays/blocks/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "store/segment/medium.h"

namespace forebay::blocks {
namespace {

std::uint64_t how_many(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit;
}

// The other ranks of the node get it from the leader.
struct Backing {
  Descriptor file;
  std::array<int, 2> at_leader{};  // its process, and the number of the file there

  Status make(std::uint64_t bytes) {
    file = Descriptor(::memfd_create("forebay", MFD_CLOEXEC));
    if (!file || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
      return errno_error("cannot make memory that the ranks of a node share:", plural(bytes, "byte"));
    at_leader = {::getpid(), file.get()};
    return {};
  }
  // Only the user whose process it is may do so.
  Status open() {
    auto opened = open_file(fmt::format("/proc/{}/fd/{}", at_leader[0], at_leader[1]), O_RDWR);
    if (!opened) return forward(opened);
    file = std::move(*opened);
    return {};
  }
};

}  // namespace

std::span<std::byte> share_of(MPI_Comm node, std::span<std::byte> memory) {
  const std::uint64_t ranks = index(size_of(node)), rank = index(rank_in(node));
  // A huge page lies on one socket; where shares are small, they would differ too much.
  const std::uint64_t unit = memory.size() / ranks < 4 * kHugePage ? segment::page_bytes() : kHugePage;
  const std::uint64_t units = how_many(memory.size(), unit);
  const std::uint64_t begin = std::min(units * rank / ranks * unit, memory.size());
  const std::uint64_t end = std::min(units * (rank + 1) / ranks * unit, memory.size());
  return memory.subspan(begin, end - begin);
}

Status NodeMemory::reserve(MPI_Comm node, std::uint64_t bytes) {
  if (bytes <= mapped_.bytes().size()) return {};
  mapped_ = MappedFile();
  const std::uint64_t room = how_many(bytes, segment::page_bytes()) * segment::page_bytes();
  const std::string what = "memory that the ranks of a node share";
  const bool is_leader = rank_in(node) == 0;
  Backing backing;
  if (auto ok = agree(node, is_leader ? backing.make(room) : Status{}); !ok) return ok;
  MPI_Bcast(backing.at_leader.data(), 2, MPI_INT, 0, node);
  Status mine = is_leader ? Status{} : backing.open();
  MappedFile mapped;
  if (mine) {
    auto done = MappedFile::of(backing.file.get(), 0, room, PROT_READ | PROT_WRITE, what);
    if (done) mapped = std::move(*done);
    mine = done ? segment::touch(share_of(node, mapped.bytes()), what) : Status(forward(done));
  }
  // From here on the leader's file may be closed: all have opened it.
  if (auto ok = agree(node, mine); !ok) return ok;
  mapped_ = std::move(mapped);
  return {};
}

}  // namespace forebay::blocks
