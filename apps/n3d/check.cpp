#include "check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/file.h"
#include "check_solver.h"
#include "fields.h"
#include "store/schedule/binomial.h"
#include "sweep.h"

namespace n3d {
namespace {

constexpr double bench_viscosity = 0.02, bench_time_step = 0.02;

struct Bench {
  const Grid& grid;
  Sizes sizes;
  NavierStokes flow{grid, bench_viscosity, bench_time_step};
  Objective tracking{flow, Measure::tracking, sizes.steps};
  std::vector<double> start = std::vector<double>(grid.state_size());
  Progress silent{false};

  Bench(const Grid& on, const Sizes& with) : grid(on), sizes(with) { fill_random_flow(flow, sizes.seed, start); }
};

double relative(double a, double b) {
  return std::abs(a - b) / std::max(std::abs(a), std::abs(b));
}

// <A v, w> = <v, A^T w> for one step and for a whole run, with vectors that are not even free of divergence.
void check_transpose(Bench& bench, std::vector<Proof>& proofs) {
  const Grid& grid = bench.grid;
  const auto steps = static_cast<std::size_t>(bench.sizes.steps);
  std::vector<std::vector<double>> states{bench.start};
  for (std::size_t n = 0; n < steps; ++n) {
    states.emplace_back(grid.state_size());
    bench.flow.step(states[n], states[n + 1]);
  }
  for (const std::size_t count : {std::size_t{1}, steps}) {
    std::vector<double> v(grid.state_size()), w(grid.state_size());
    fill_noise(grid, 11, v);
    fill_noise(grid, 12, w);
    std::vector<double> derivative = v, transposed = w;
    for (std::size_t n = 0; n < count; ++n) bench.flow.tangent_step(states[n], derivative);
    for (std::size_t n = count; n-- > 0;) bench.flow.adjoint_step(states[n], transposed);
    proofs.push_back({count == 1 ? "dot product, one step" : fmt::format("dot product, {} steps", count),
                      relative(grid.inner(derivative, w), grid.inner(v, transposed)), 0, 1e-12});
  }
}

// The slope of log remainder over log epsilon, by least squares.
double slope_of(std::span<const Remainder> remainders) {
  double x_mean = 0, y_mean = 0, xy = 0, xx = 0;
  const auto count = static_cast<double>(remainders.size());
  for (const Remainder& r : remainders) {
    x_mean += std::log(r.epsilon) / count;
    y_mean += std::log(r.remainder) / count;
  }
  for (const Remainder& r : remainders) {
    xy += (std::log(r.epsilon) - x_mean) * (std::log(r.remainder) - y_mean);
    xx += (std::log(r.epsilon) - x_mean) * (std::log(r.epsilon) - x_mean);
  }
  return xy / xx;
}

Status check_taylor(Bench& bench, Checked& checked) {
  std::vector<double> direction(bench.grid.state_size()), gradient(direction.size()), moved(direction.size());
  // Not free of divergence, so that a gradient must be.
  fill_random_flow(bench.flow, bench.sizes.seed + 1, direction);
  fill_noise(bench.grid, bench.sizes.seed + 2, moved);
  for (std::size_t i = 0; i < moved.size(); ++i) direction[i] += 0.3 * moved[i];
  for (const Measure measure : {Measure::energy, Measure::dissipation, Measure::tracking}) {
    Objective objective(bench.flow, measure, bench.sizes.steps);
    const auto store = make_array_store(bench.grid.state_size());
    Sweep sweep(bench.flow, objective, {*store, nullptr, {.dram = bench.sizes.steps}}, bench.silent);
    const auto value = sweep.gradient(bench.start, gradient);
    if (!value) return forebay::forward(value);
    const double slope = bench.grid.inner(gradient, direction);
    std::vector<Remainder> remainders;
    for (const double epsilon : {1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5}) {
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = bench.start[i] + epsilon * direction[i];
      remainders.push_back({name_of(measure), epsilon, std::abs(sweep.value(moved) - *value - epsilon * slope)});
    }
    checked.proofs.push_back({fmt::format("Taylor slope, {}", name_of(measure)), slope_of(remainders), 1.98, 2.02});
    checked.remainders.insert(checked.remainders.end(), remainders.begin(), remainders.end());
  }
  return {};
}

// The gradient of the tracking error, with states in these tiers.
Result<Phases> gradient_with(Bench& bench, const StateTiers& tiers, std::vector<double>& gradient) {
  Sweep sweep(bench.flow, bench.tracking, tiers, bench.silent);
  const auto value = sweep.gradient(bench.start, gradient);
  if (!value) return forebay::forward(value);
  return sweep.phases();
}

StateTiers all_in(const Bench& bench, StateStore& store) {
  return {.dram = store, .slots = {.dram = bench.sizes.steps - 1}};
}

// The gradient with every way to keep states, bit by bit, and the number of steps that recomputing took.
Status check_stores(Bench& bench, const std::string& directory, std::span<const double> reference,
                    std::vector<Proof>& proofs) {
  const std::size_t size = bench.grid.state_size();
  std::vector<double> gradient(size);
  const auto run = [&](const StateTiers& tiers) { return gradient_with(bench, tiers, gradient); };
  const auto differ = [&] {
    return bench.grid.maximum(std::memcmp(reference.data(), gradient.data(), size * sizeof(double)) == 0 ? 0 : 1);
  };
  const auto arrays = make_array_store(size);
  const auto files = make_file_store(size, directory, bench.grid.rank(), false);
  if (const auto done = run(all_in(bench, *files)); !done) return forebay::forward(done);
  proofs.push_back({"gradient from files differs from arrays", differ(), 0, 0});
  const auto memory =
      make_trajectory_store(size, {dram_for(size, bench.sizes.steps)}, bench.grid.rank(), bench.grid.ranks());
  if (!memory) return forebay::forward(memory);
  if (const auto done = run(all_in(bench, **memory)); !done) return forebay::forward(done);
  proofs.push_back({"gradient from memory differs", differ(), 0, 0});
  if (const auto done = run(all_in(bench, **memory)); !done) return forebay::forward(done);
  proofs.push_back({"gradient from memory, rewound, differs", differ(), 0, 0});
  // Four records are the least that a tier above another takes; the states are more.
  const Tier little{Tier::Kind::dram, {}, 4 * (size * sizeof(double) + 4096)};
  Tier shared = dram_for(size, bench.sizes.steps);
  shared.kind = Tier::Kind::shared;
  shared.directory = directory;
  const auto spilled = make_trajectory_store(size, {little, shared}, bench.grid.rank(), bench.grid.ranks());
  if (!spilled) return forebay::forward(spilled);
  if (const auto done = run(all_in(bench, **spilled)); !done) return forebay::forward(done);
  proofs.push_back({"gradient from memory, mostly spilled, differs", differ(), 0, 0});
  const auto pool = make_pool_store(size, directory, 2, bench.grid.rank(), bench.grid.ranks());
  if (!pool) return forebay::forward(pool);
  using forebay::schedule::Slots;
  for (const Slots slots : {Slots{.dram = 1}, Slots{.dram = 3}, Slots{.dram = 1, .pool = 2}, Slots{.pool = 2}}) {
    const auto done = run({*arrays, pool->get(), slots});
    if (!done) return forebay::forward(done);
    const std::string way = fmt::format("revolve, {} + {} slots", slots.dram, slots.pool);
    proofs.push_back({fmt::format("gradient from {}, differs", way), differ(), 0, 0});
    const auto expected = static_cast<double>(forebay::schedule::forward_steps(bench.sizes.steps, slots.total()));
    const auto taken = static_cast<double>(done->forward.count + done->recompute.count - 1);
    proofs.push_back({fmt::format("forward steps of {}", way), taken, expected, expected});
  }
  return {};
}

// The gradient from states that are not the ones that the run went through, but near them.
Status check_accepted_errors(Bench& bench, std::span<const double> exact, std::vector<Proof>& proofs) {
  const Grid& grid = bench.grid;
  const std::size_t size = grid.state_size();
  std::vector<double> gradient(size);
  for (const double accepted : {1e-3, 1e-4, 1e-6}) {
    const auto store =
        make_trajectory_store(size, {dram_for(size, bench.sizes.steps)}, grid.rank(), grid.ranks(), accepted);
    if (!store) return forebay::forward(store);
    if (const auto done = gradient_with(bench, all_in(bench, **store), gradient); !done) return forebay::forward(done);
    for (std::size_t i = 0; i < size; ++i) gradient[i] -= exact[i];
    const double error = std::sqrt(grid.inner(gradient, gradient) / grid.inner(exact, exact));
    // Not 0: states that come back to the last bit would prove nothing.
    proofs.push_back(
        {fmt::format("error of the gradient, {:g} accepted", accepted), error, 1e-3 * accepted, 3 * accepted});
  }
  return {};
}

// A directory of this run alone, the same on every rank.
Result<std::string> temporary_directory(const Grid& grid) {
  char path[64] = "/tmp/n3d-XXXXXX";
  int made = 1;
  if (grid.rank() == 0 && ::mkdtemp(path) == nullptr) made = 0;
  MPI_Bcast(&made, 1, MPI_INT, 0, grid.communicator());
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, grid.communicator());
  if (made == 0) return forebay::errno_error("cannot make a directory", "/tmp");
  return std::string(path);
}

}  // namespace

bool Checked::all_hold() const {
  return std::all_of(proofs.begin(), proofs.end(), [](const Proof& proof) { return proof.holds(); });
}

std::string Checked::table() const {
  std::string text = fmt::format("{:<50} {:>12}  {:<14}\n", "proof", "figure", "allowed");
  for (const Proof& p : proofs) {
    const std::string allowed = p.least == p.most ? fmt::format("{:g}", p.least)
                                : p.least == 0    ? fmt::format("<= {:g}", p.most)
                                                  : fmt::format("{:g} .. {:g}", p.least, p.most);
    text += fmt::format("{:<50} {:>12.6g}  {:<14} {}\n", p.what, p.figure, allowed, p.holds() ? "holds" : "FAILS");
  }
  return text;
}

Result<Checked> check_gradient(MPI_Comm communicator, const Sizes& sizes, std::string directory) {
  const Grid grid(communicator, sizes.points);
  Checked checked;
  check_weights(grid, sizes.seed, checked.proofs);
  check_conservation(grid, sizes.seed, checked.proofs);
  check_vortex(grid, checked.proofs);
  Bench bench(grid, sizes);
  check_transpose(bench, checked.proofs);
  if (const auto done = check_taylor(bench, checked); !done) return forebay::forward(done);

  std::vector<double> exact(grid.state_size());
  const auto arrays = make_array_store(grid.state_size());
  if (const auto done = gradient_with(bench, all_in(bench, *arrays), exact); !done) return forebay::forward(done);

  const bool temporary = directory.empty();
  if (temporary) {
    auto made = temporary_directory(grid);
    if (!made) return forebay::forward(made);
    directory = *made;
  }
  // No barrier after an error: the other ranks may wait for this one elsewhere, until the caller ends them all.
  if (const auto done = check_stores(bench, directory, exact, checked.proofs); !done) return forebay::forward(done);
  if (const auto done = check_accepted_errors(bench, exact, checked.proofs); !done) return forebay::forward(done);
  MPI_Barrier(communicator);
  if (temporary && grid.rank() == 0) ::rmdir(directory.c_str());
  return checked;
}

}  // namespace n3d
