// Seconds that work of all ranks takes.
#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <vector>

namespace forebay::blocks::bench {

// From when the first rank begins until the last is through. Ranks share a machine, so its clock is the same for all;
// where they share its cores, what each of them takes by itself would leave out how long it waited for one.
inline double timed(const std::function<void()>& work) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  work();
  double times[2] = {-begin, now()};
  MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return times[0] + times[1];
}

inline std::vector<double> repeated(int times, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) seconds.push_back(timed(work));
  return seconds;
}

}  // namespace forebay::blocks::bench
