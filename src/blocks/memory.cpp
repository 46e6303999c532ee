#include "blocks/memory.h"

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
  if (auto ok = mpi_status(got, "cannot get memory that the ranks of a node share", {},
                           "MPI keeps it in /dev/shm: make room there");
      !ok) {
    return ok;
  }
  MPI_Aint size = 0;
  int unit = 0;
  void* first = nullptr;
  MPI_Win_shared_query(window, 0, &size, &unit, &first);
  window_ = window;
  data_ = static_cast<std::byte*>(first);
  bytes_ = bytes;
  return {};
}

}  // namespace forebay::blocks
