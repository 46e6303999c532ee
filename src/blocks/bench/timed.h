// Seconds that work of all ranks takes.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

namespace forebay::blocks::bench {

// Until the last rank is through.
inline double timed(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  work();
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

inline std::vector<double> repeated(int times, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) seconds.push_back(timed(work));
  return seconds;
}

}  // namespace forebay::blocks::bench
