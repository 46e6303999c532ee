// What a forward run and its adjoint take with every state in a trajectory and in plain arrays, by turns. One process
// makes all the runs, so that those of a pair lie close together and what else happens on the machine concerns both.
// Run by `forebay bench trajectory`.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "fields.h"
#include "segment/medium.h"
#include "sweep.h"

namespace n3d {
namespace {

[[noreturn]] void give_in(const forebay::Error& error) {
  fmt::print(stderr, "cannot measure: {}\n", error.text());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

// A page that a virtual machine has given back costs five times as much as one at hand, and small pages, which arrays
// take, leave the large ones to the host. What a run takes is therefore at hand, as all memory of a real machine is.
void have_at_hand(std::uint64_t bytes) {
  if (const auto touched = forebay::segment::memory_of_process()->make(0, bytes); !touched) give_in(touched.error());
}

class Bench {
 public:
  Bench(std::size_t points, Step steps)
      : grid_(MPI_COMM_WORLD, points),
        flow_(grid_, 0.02, 0.02),
        objective_(flow_, Measure::energy, steps),
        start_(grid_.state_size()) {
    fill_random_flow(flow_, 1, start_);
  }

  // Seconds of the slowest rank, from when its store is made until that is gone.
  double seconds(bool in_trajectory) {
    const auto steps = objective_.steps();
    std::vector<double> gradient(start_.size());
    Progress silent(false);
    have_at_hand(3 * start_.size() * sizeof(double) * static_cast<std::uint64_t>(steps) / 2);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    {
      const auto store = in_trajectory ? trajectory() : make_array_store(grid_.state_size());
      Sweep sweep(flow_, objective_, {*store, nullptr, {.dram = steps - 1, .pool = 0}}, silent);
      if (const auto value = sweep.gradient(start_, gradient); !value) give_in(value.error());
    }
    return grid_.maximum(MPI_Wtime() - began);
  }
  bool speaks() const { return grid_.rank() == 0; }

 private:
  std::unique_ptr<StateStore> trajectory() const {
    const Tier memory = dram_for(grid_.state_size(), objective_.steps());
    auto store = make_trajectory_store(grid_.state_size(), {memory}, grid_.rank(), grid_.ranks());
    if (!store) give_in(store.error());
    return std::move(*store);
  }

  const Grid grid_;
  NavierStokes flow_;
  Objective objective_;
  std::vector<double> start_;
};

int run(int count, char** words) {
  CLI::App app("Runs of n3d with all states in a trajectory (memory) and in plain arrays: their seconds as JSON",
               "n3d_bench");
  std::size_t points = 0;
  Step steps = 0;
  int pairs = 0;
  app.add_option("--points", points)->required()->check(CLI::Range(8, 4096));
  app.add_option("--steps", steps)->required()->check(CLI::PositiveNumber);
  app.add_option("--pairs", pairs)->required()->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, words);

  Bench bench(points, steps);
  bench.seconds(true);  // the first run of a process has more to wait for
  std::vector<double> memory, arrays;
  for (int pair = 0; pair < pairs; ++pair) {
    for (const bool in_trajectory : {pair % 2 == 0, pair % 2 != 0})
      (in_trajectory ? memory : arrays).push_back(bench.seconds(in_trajectory));
  }
  if (bench.speaks()) fmt::print("{}\n", nlohmann::json{{"memory", memory}, {"arrays", arrays}}.dump());
  return 0;
}

}  // namespace
}  // namespace n3d

int main(int count, char** words) {
  // An array is new memory in each run, as it is in a program that makes one run.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 16);
  MPI_Init(&count, &words);
  fftw_mpi_init();
  const int status = n3d::run(count, words);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return status;
}
