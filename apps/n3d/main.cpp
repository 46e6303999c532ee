// n3d: a periodic incompressible flow and its adjoint, the kind of solver that a store of states is for.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/file.h"
#include "check.h"
#include "fields.h"
#include "optimise.h"
#include "options.h"
#include "pictures.h"
#include "report.h"
#include "sweep.h"

namespace n3d {
namespace {

constexpr int failed = 1, bad_input = 2;

// What one rank cannot do, none can: the others may already wait for it.
[[noreturn]] void end_all(const forebay::Error& error, int rank) {
  fmt::print(stderr, "n3d: rank {}: {}\n", rank, error.text());
  MPI_Abort(MPI_COMM_WORLD, failed);
  std::abort();
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Status write_file(const std::string& path, const std::string& text) {
  return path.empty() ? Status{} : forebay::replace_file(path, text);
}

int check(const Options& options, int rank, int ranks) {
  const Sizes sizes = options.quick ? Sizes{.points = 16, .steps = 10, .seed = options.seed}
                                    : Sizes{.points = 32, .steps = 20, .seed = options.seed};
  const auto checked = check_gradient(MPI_COMM_WORLD, sizes, options.directory);
  if (!checked) end_all(checked.error(), rank);
  if (rank == 0) {
    if (!options.quiet) fmt::print("{}", checked->table());
    if (const auto done = write_file(options.json, to_json(*checked, ranks)); !done) end_all(done.error(), rank);
    if (!options.pictures.empty())
      if (const auto done = write_remainders(checked->remainders, options.pictures); !done) end_all(done.error(), rank);
    if (!checked->all_hold()) fmt::print(stderr, "n3d: a proof fails\n");
  }
  return checked->all_hold() ? 0 : failed;
}

std::vector<double> start_of(NavierStokes& flow, const Options& options) {
  std::vector<double> start(flow.grid().state_size());
  fill_random_flow(flow, options.seed, start);
  if (options.random) return start;
  std::vector<double> vortex(start.size());
  fill_taylor_green(flow.grid(), vortex);
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = vortex[i] + 0.05 * start[i];
  return start;
}

Result<std::unique_ptr<StateStore>> make_store(const Options& options, const Grid& grid) {
  if (options.store == StoreKind::files)
    return make_file_store(grid.state_size(), options.directory, grid.rank(), options.keep_files);
  if (options.store != StoreKind::memory) return make_array_store(grid.state_size());
  std::vector<Tier> tiers = options.tiers;
  if (tiers.empty()) tiers.push_back(dram_for(grid.state_size(), options.steps));
  return make_trajectory_store(grid.state_size(), tiers, grid.rank(), grid.ranks(), options.accepted_error);
}

// The store in memory holds everything that revolve does not spread over two.
forebay::schedule::Slots slots_of(const Options& options) {
  const Step all = options.steps - 1;
  if (options.store != StoreKind::revolve) return {.dram = all, .pool = 0};
  const Step dram = std::min(options.slots, all);
  return {.dram = dram, .pool = std::min(options.pool_slots, all - dram)};
}

int run(const Options& options) {
  const Grid grid(MPI_COMM_WORLD, options.points);
  const bool speaks = grid.rank() == 0 && !options.quiet;
  NavierStokes flow(grid, options.viscosity, options.time_step);
  Objective objective(flow, options.measure, options.steps);
  const auto store = make_store(options, grid);
  if (!store) end_all(store.error(), grid.rank());
  const auto slots = slots_of(options);
  std::unique_ptr<StateStore> pool;
  if (slots.pool > 0) {
    auto made = make_pool_store(grid.state_size(), options.directory, slots.pool, grid.rank(), grid.ranks());
    if (!made) end_all(made.error(), grid.rank());
    pool = std::move(*made);
  }
  Progress progress(speaks);
  Sweep sweep(flow, objective, {**store, pool.get(), slots}, progress);
  std::vector<double> start = start_of(flow, options), gradient(start.size());

  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  const auto tell = [&](std::size_t number, const Iteration& i) {
    if (!speaks || options.iterations == 0) return;
    progress.clear();
    fmt::print("iteration {:>3}  {} {:.12g}  gradient {:.4g}  step {:.4g}  {} runs to find it\n", number,
               name_of(options.measure), i.value, i.gradient_norm, i.step, i.evaluations);
  };
  const auto iterations = optimise(sweep, grid, options.measure, options.iterations, start, gradient, tell);
  if (!iterations) end_all(iterations.error(), grid.rank());

  Report report;
  report.options = options;
  report.ranks = grid.ranks();
  report.states_kept = slots.total();
  report.iterations = *iterations;
  report.total_seconds = grid.maximum(MPI_Wtime() - began);
  report.state_bytes = 3 * sizeof(double) * options.points * options.points * options.points;
  report.gradient_checksum = checksum(grid, gradient);
  report.phases = gather(grid, sweep.phases());
  progress.clear();
  if (speaks) fmt::print("{}", report.text());
  if (grid.rank() == 0)
    if (const auto done = write_file(options.json, report.json()); !done) end_all(done.error(), 0);
  if (!options.pictures.empty()) {
    if (const auto done = write_spectrum(flow, sweep.end(), options.pictures); !done) end_all(done.error(), 0);
    if (const auto done = write_vorticity(flow, sweep.end(), options.pictures); !done) end_all(done.error(), 0);
  }
  return 0;
}

int start(int count, char** words) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto [options, exit_status] = parse(count, words, rank == 0);
  if (exit_status) return *exit_status;
  std::string wrong = complaint(options, ranks);
  for (const std::string& directory : {options.directory, options.pictures})
    if (wrong.empty() && !directory.empty() && !is_directory(directory))
      wrong = fmt::format("{} is not a directory", directory);
  // A directory may be there on one node and not on another: all refuse together.
  int any = wrong.empty() ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (any != 0) {
    if (rank == 0) fmt::print(stderr, "n3d: {}\n", wrong.empty() ? "another rank cannot see a directory" : wrong);
    return bad_input;
  }
  return options.check_gradient ? check(options, rank, ranks) : run(options);
}

}  // namespace
}  // namespace n3d

int main(int count, char** words) {
  MPI_Init(&count, &words);
  fftw_mpi_init();
  const int status = n3d::start(count, words);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return status;
}
