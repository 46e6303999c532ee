#include "ranks.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <new>

#include "tools.h"

namespace forebay::trajectory::bench {
namespace {

constexpr int kMostRanks = 64;

// The other ranks would wait at the barrier for ever.
void end_with_it(int) {
  int status = 0;
  while (::waitpid(-1, &status, WNOHANG) > 0) {
    if (status != 0) ::_exit(1);
  }
}

}  // namespace

struct Ranks::Shared {
  pthread_barrier_t barrier;
  double seconds[kMostRanks];
};

Ranks::Ranks(int count) : count_(count) {
  if (count > kMostRanks) give_in(fmt::format("at most {} ranks", kMostRanks));
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) give_in("no memory that ranks share");
  shared_ = new (memory) Shared;
  pthread_barrierattr_t between_processes;
  ::pthread_barrierattr_init(&between_processes);
  ::pthread_barrierattr_setpshared(&between_processes, PTHREAD_PROCESS_SHARED);
  ::pthread_barrier_init(&shared_->barrier, &between_processes, static_cast<unsigned>(count));
  ::pthread_barrierattr_destroy(&between_processes);
  std::signal(SIGCHLD, end_with_it);
  const pid_t parent = ::getpid();
  for (int rank = 1; rank < count && rank_ == 0; ++rank) {
    const pid_t child = ::fork();
    if (child < 0) give_in("cannot make another rank");
    if (child > 0) continue;
    rank_ = rank;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
  }
}

Ranks::~Ranks() {
  meet();
  if (rank_ != 0) ::_exit(0);
  std::signal(SIGCHLD, SIG_DFL);
  while (::wait(nullptr) > 0) {
  }
  ::munmap(shared_, sizeof(Shared));
}

double Ranks::seconds(const std::function<void()>& work) {
  meet();
  shared_->seconds[rank_] = bench::seconds(work);
  meet();
  return *std::max_element(shared_->seconds, shared_->seconds + count_);
}

void Ranks::meet() {
  ::pthread_barrier_wait(&shared_->barrier);
}

}  // namespace forebay::trajectory::bench
