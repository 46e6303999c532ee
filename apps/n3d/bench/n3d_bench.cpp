// What a forward run and its adjoint take with every state in a trajectory and in plain arrays, by turns. One process
// makes all the runs, so that those of a pair lie close together and what else happens on the machine concerns both.
// Run by `forebay bench trajectory`.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "fields.h"
#include "options.h"
#include "store/segment/medium.h"
#include "sweep.h"

namespace n3d {
namespace {

[[noreturn]] void give_in(const std::string& why) {
  fmt::print(stderr, "cannot measure: {}\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

// A page that a virtual machine has given back costs five times as much as one at hand, and a run of arrays, whose
// pages are small, leaves the next one other pages than a run of a trajectory, whose pages are huge. So each finds at
// hand what it may take: the states, the room that segments leave empty, and a segment that is ready.
void have_at_hand(std::uint64_t bytes_of_states) {
  const auto touched = forebay::segment::memory_of_process()->make(0, bytes_of_states + bytes_of_states / 2);
  if (!touched) give_in(touched.error().text());
}

class Bench {
 public:
  explicit Bench(const Options& options)
      : grid_(MPI_COMM_WORLD, options.points),
        flow_(grid_, options.viscosity, options.time_step),
        objective_(flow_, options.measure, options.steps),
        start_(grid_.state_size()) {
    fill_random_flow(flow_, options.seed, start_);
  }

  // Seconds of the slowest rank, from when its store is made until the gradient is there, as n3d counts them.
  double seconds(bool in_trajectory) {
    const auto steps = objective_.steps();
    std::vector<double> gradient(start_.size());
    Progress silent(false);
    have_at_hand(start_.size() * sizeof(double) * static_cast<std::uint64_t>(steps));
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    const auto store = in_trajectory ? trajectory() : make_array_store(grid_.state_size());
    Sweep sweep(flow_, objective_, {*store, nullptr, {.dram = steps - 1, .pool = 0}}, silent);
    if (const auto value = sweep.gradient(start_, gradient); !value) give_in(value.error().text());
    const double took = MPI_Wtime() - began;
    if (gradient_.empty()) gradient_ = gradient;
    if (gradient != gradient_) give_in("the gradient depends on where the states were kept");
    return grid_.maximum(took);
  }
  // Of all ranks, so that they decide alike.
  double most(double each) const { return grid_.maximum(each); }
  bool speaks() const { return grid_.rank() == 0; }

 private:
  std::unique_ptr<StateStore> trajectory() const {
    const Tier memory = dram_for(grid_.state_size(), objective_.steps());
    auto store = make_trajectory_store(grid_.state_size(), {memory}, grid_.rank(), grid_.ranks());
    if (!store) give_in(store.error().text());
    return std::move(*store);
  }

  const Grid grid_;
  NavierStokes flow_;
  Objective objective_;
  std::vector<double> start_, gradient_;
};

int run(int count, char** words, int ranks) {
  CLI::App app("Runs of n3d with all states in a trajectory (memory) and in plain arrays: their seconds as JSON",
               "n3d_bench");
  Options options;
  int pairs = 1;
  double seconds = std::numeric_limits<double>::infinity();
  app.add_option("--points", options.points, "Points along each side of the box");
  app.add_option("--steps", options.steps, "Time steps");
  app.add_option("--pairs", pairs, "Of runs")->check(CLI::PositiveNumber);
  app.add_option("--seconds", seconds, "No further pair after so many, but two at least");
  CLI11_PARSE(app, count, words);
  if (const std::string wrong = complaint(options, ranks); !wrong.empty()) {
    fmt::print(stderr, "n3d_bench: {}\n", wrong);
    return 2;
  }

  const double began = MPI_Wtime();
  Bench bench(options);
  for (const bool in_trajectory : {true, false})
    bench.seconds(in_trajectory);  // the first runs of a process are slower
  std::vector<double> memory, arrays;
  for (int pair = 0; pair < pairs && (pair < 2 || bench.most(MPI_Wtime() - began) < seconds); ++pair) {
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
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int status = n3d::run(count, words, ranks);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return status;
}
