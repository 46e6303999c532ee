#include "arrays/blocks/mpi.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace forebay::blocks {
namespace {

// An Error as bytes, for the ranks that do not have it.
std::string encoded(const Error& error) {
  return fmt::format("{} {} {} {} {}", static_cast<int>(error.code), error.errno_value, escape(error.what),
                     escape(error.path), escape(error.advice));
}

Error decoded(std::string_view text) {
  const auto words = split(text, ' ');
  return {static_cast<Code>(parse_integer(words.at(0)).value_or(1)), *unescape(words.at(2)), *unescape(words.at(3)),
          static_cast<int>(parse_integer(words.at(1)).value_or(0)), *unescape(words.at(4))};
}

}  // namespace

Status mpi_status(int returned, std::string_view what, std::string_view path, std::string_view advice) {
  if (returned == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(returned, text, &length);
  auto failed = error(Code::failed, what, path, advice);
  failed.value().path += fmt::format(" (MPI: {})", std::string_view(text, static_cast<std::size_t>(length)));
  return failed;
}

// MPICH, Intel MPI, MVAPICH and Cray's take each other's place. Open MPI takes that of none.
Status check_family() {
#ifdef OPEN_MPI
  constexpr bool built_with_open_mpi = true;
#else
  constexpr bool built_with_open_mpi = false;
#endif
  // Room for what any MPI says, not only for the 256 bytes of Open MPI: MPICH says up to 8,192.
  char text[16384] = "";
  static_assert(sizeof(text) >= MPI_MAX_LIBRARY_VERSION_STRING);
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::replace(std::begin(text), std::end(text), '\t', ' ');
  const std::string_view version(text);
  if (version.starts_with("Open MPI") == built_with_open_mpi) return {};
  return error(Code::bad_input,
               fmt::format("the program runs with another MPI (\"{}\") than libforebay_arrays was built with ({})",
                           printable(version.substr(0, version.find_first_of(",\n"))),
                           built_with_open_mpi ? "Open MPI" : "MPICH or one like it"),
               {}, "build forebay with the MPI of the program, or link the program with that of forebay");
}

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int size_of(MPI_Comm communicator) {
  int size = 0;
  MPI_Comm_size(communicator, &size);
  return size;
}

Status agree(MPI_Comm communicator, const Status& mine) {
  const int rank = rank_in(communicator), ranks = size_of(communicator);
  int candidate = mine ? ranks : rank;
  int lowest = ranks;
  MPI_Allreduce(&candidate, &lowest, 1, MPI_INT, MPI_MIN, communicator);
  if (lowest == ranks) return {};
  return tl::unexpected<Error>(decoded(broadcast(communicator, lowest == rank ? encoded(mine.error()) : "", lowest)));
}

std::string broadcast(MPI_Comm communicator, std::string text, int from) {
  std::uint64_t bytes = text.size();
  MPI_Bcast(&bytes, 1, MPI_UINT64_T, from, communicator);
  text.resize(bytes);
  MPI_Bcast(text.data(), static_cast<int>(bytes), MPI_CHAR, from, communicator);
  return text;
}

Communicator::~Communicator() {
  if (handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
}

ItemType::ItemType(std::size_t bytes) {
  MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &handle_);
  MPI_Type_commit(&handle_);
}

ItemType::~ItemType() {
  MPI_Type_free(&handle_);
}

std::uint64_t over_all(MPI_Comm communicator, std::uint64_t mine, MPI_Op operation) {
  std::uint64_t all = 0;
  // MPICH 4.0 compares numbers without a sign as if they had one. With the highest bit turned over they are in order.
  const std::uint64_t turned = operation == MPI_SUM ? 0 : std::uint64_t{1} << 63;
  mine ^= turned;
  MPI_Allreduce(&mine, &all, 1, turned == 0 ? MPI_UINT64_T : MPI_INT64_T, operation, communicator);
  return all ^ turned;
}

void meet_asleep(MPI_Comm communicator) {
  using std::chrono::microseconds;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator, &request);
  int met = 0;
  for (microseconds pause(10);; pause = std::min(2 * pause, microseconds(1000))) {
    MPI_Test(&request, &met, MPI_STATUS_IGNORE);
    if (met != 0) return;
    std::this_thread::sleep_for(pause);
  }
}

bool same_on_all(MPI_Comm communicator, std::uint64_t mine) {
  std::uint64_t least[2] = {mine, ~mine};  // the least of the complements is that of the largest
  MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_INT64_T, MPI_MIN, communicator);  // either order does; one is in every MPI
  return least[0] == ~least[1];
}

}  // namespace forebay::blocks
