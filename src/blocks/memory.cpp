#include "blocks/memory.h"

#include <span>

#include "segment/medium.h"

namespace forebay::blocks {

namespace {

// Too little memory is an error to report, where failed messages end the program.
class ReturnErrors {
 public:
  explicit ReturnErrors(MPI_Comm communicator) : communicator_(communicator) {
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  }
  ReturnErrors(const ReturnErrors&) = delete;
  ReturnErrors& operator=(const ReturnErrors&) = delete;
  ~ReturnErrors() { MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_ARE_FATAL); }

 private:
  MPI_Comm communicator_;
};

// The pages that this rank takes room for.
std::span<std::byte> part_of(const Team& team, std::byte* data, std::uint64_t bytes) {
  const std::uint64_t page = segment::page_bytes();
  const std::uint64_t before = reinterpret_cast<std::uintptr_t>(data) % page;  // on the first page
  const std::uint64_t pages = (before + bytes + page - 1) / page, ranks = team.members().size();
  const auto place = static_cast<std::uint64_t>(team.place_in_node());
  const auto first = pages * place / ranks, end = pages * (place + 1) / ranks;
  return {data - before + first * page, (end - first) * page};
}

}  // namespace

NodeMemory::~NodeMemory() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

Status NodeMemory::reserve(const Team& team, std::uint64_t bytes) {
  if (bytes <= bytes_) return {};
  { const NodeMemory old = std::exchange(*this, NodeMemory()); }
  void* mine = nullptr;
  const ReturnErrors returned(team.node());
  MPI_Win window = MPI_WIN_NULL;
  const auto own = static_cast<MPI_Aint>(team.place_in_node() == 0 ? bytes : 0);
  const int got = MPI_Win_allocate_shared(own, 1, MPI_INFO_NULL, team.node(), &mine, &window);
  const char* const advice = "MPI keeps it in /dev/shm: make room there";
  if (auto ok = agree(team.node(), mpi_status(got, "cannot get memory that the ranks of a node share", {}, advice));
      !ok) {
    if (window != MPI_WIN_NULL) MPI_Win_free(&window);
    return ok;
  }
  MPI_Aint size = 0;
  int unit = 0;
  void* first = nullptr;
  MPI_Win_shared_query(window, 0, &size, &unit, &first);
  window_ = window;
  data_ = static_cast<std::byte*>(first);
  bytes_ = bytes;
  auto taken = agree(team.node(), segment::touch(part_of(team, data_, bytes), "/dev/shm"));
  if (!taken) {
    const NodeMemory without_room = std::exchange(*this, NodeMemory());
  }
  return taken;
}

}  // namespace forebay::blocks
