#include "arrays/blocks/meeting.h"

#include <fmt/format.h>
#include <pthread.h>

#include <cerrno>
#include <new>

namespace forebay::blocks {
namespace {

Status make_barrier(std::byte* memory, int ranks) {
  pthread_barrierattr_t attributes;
  ::pthread_barrierattr_init(&attributes);
  ::pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  const int failed = ::pthread_barrier_init(new (memory) pthread_barrier_t, &attributes, static_cast<unsigned>(ranks));
  ::pthread_barrierattr_destroy(&attributes);
  if (failed == 0) return {};
  errno = failed;
  return errno_error("cannot make a barrier for", plural(static_cast<std::uint64_t>(ranks), "rank"));
}

}  // namespace

Result<Meeting> Meeting::of(MPI_Comm node) {
  Meeting meeting;
  if (auto ok = meeting.memory_.reserve(node, sizeof(pthread_barrier_t)); !ok) return forward(ok);
  const Status made = rank_in(node) == 0 ? make_barrier(meeting.memory_.data(), size_of(node)) : Status{};
  if (auto ok = agree(node, made); !ok) return forward(ok);
  return meeting;
}

void Meeting::wait() const {
  ::pthread_barrier_wait(std::launder(reinterpret_cast<pthread_barrier_t*>(memory_.data())));
}

}  // namespace forebay::blocks
