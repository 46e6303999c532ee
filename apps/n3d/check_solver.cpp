#include "check_solver.h"

#include <cmath>

#include "fields.h"

namespace n3d {
namespace {

double norm(const Grid& grid, std::span<const double> a) {
  return std::sqrt(grid.inner(a, a));
}

double distance(const Grid& grid, std::span<const double> a, std::span<const double> b) {
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return norm(grid, difference);
}

// The error at the end of a run of a vortex carried by a mean flow.
double carried_error(const Grid& grid, int steps) {
  constexpr double end = 0.8, viscosity = 0.05;
  constexpr std::array<double, 3> mean{1, 0.5, 0.25};
  NavierStokes flow(grid, viscosity, end / steps);
  std::vector<double> u(grid.state_size()), exact(grid.state_size());
  const auto add_mean = [&](std::vector<double>& state) {
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += mean[i / (state.size() / 3)];
  };
  fill_vortex(grid, 1, u);
  add_mean(u);
  for (int n = 0; n < steps; ++n) flow.step(u, u);
  fill_vortex(grid, std::exp(-2 * viscosity * end), exact, {mean[0] * end, mean[1] * end});
  add_mean(exact);
  return distance(grid, u, exact);
}

}  // namespace

void check_weights(const Grid& grid, std::uint64_t seed, std::vector<Proof>& proofs) {
  std::vector<double> a(grid.state_size()), b(grid.state_size());
  fill_noise(grid, seed, a);
  fill_noise(grid, seed + 1, b);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] += a[i];
  Physical physical = grid.physical();
  Spectral a_modes = grid.spectral(), b_modes = grid.spectral();
  grid.unpack(a, grid.scale(), physical);
  grid.to_spectral(physical, a_modes);
  grid.unpack(b, grid.scale(), physical);
  grid.to_spectral(physical, b_modes);
  double mine = 0;
  grid.for_each_mode([&](const Mode& mode) {
    for (std::size_t c = 0; c < 3; ++c)
      mine += mode.weight * std::real(std::conj(a_modes[c][mode.index]) * b_modes[c][mode.index]);
  });
  const double over_points = grid.inner(a, b);
  proofs.push_back({"inner product over modes", std::abs(grid.sum(mine) / over_points - 1), 0, 1e-13});
}

void check_conservation(const Grid& grid, std::uint64_t seed, std::vector<Proof>& proofs) {
  constexpr double viscosity = 0.02, time_step = 0.01;
  NavierStokes inviscid(grid, 0, time_step), flow(grid, viscosity, time_step);
  std::vector<double> u(grid.state_size()), vorticity(u.size()), rate(u.size());
  fill_random_flow(flow, seed, u);
  flow.curl(u, vorticity);
  inviscid.rate(u, rate);
  const double u_size = norm(grid, u), rate_size = norm(grid, rate), vorticity_size = norm(grid, vorticity);
  proofs.push_back(
      {"energy kept by the nonlinear term", std::abs(grid.inner(u, rate)) / (u_size * rate_size), 0, 1e-13});
  proofs.push_back({"helicity kept by the nonlinear term",
                    std::abs(grid.inner(vorticity, rate)) / (vorticity_size * rate_size), 0, 1e-13});
  double momentum = 0;
  const std::size_t part = u.size() / 3;
  for (std::size_t c = 0; c < 3; ++c) {
    double mine = 0;
    for (std::size_t i = 0; i < part; ++i) mine += rate[c * part + i];
    momentum = std::max(momentum, std::abs(grid.sum(mine)) * grid.scale());
  }
  proofs.push_back({"momentum kept by the nonlinear term", momentum / rate_size, 0, 1e-13});
  flow.rate(u, rate);
  const auto dissipation = [&] {
    flow.curl(u, vorticity);
    return viscosity * grid.inner(vorticity, vorticity);
  };
  proofs.push_back(
      {"energy lost is what dissipates, at once", std::abs(grid.inner(u, rate) / dissipation() + 1), 0, 1e-12});

  // Simpson's rule over the dissipation of a run
  constexpr int steps = 20;
  const double before = grid.inner(u, u) / 2;
  double dissipated = 0;
  for (int n = 0; n <= steps; ++n) {
    const double weight = n == 0 || n == steps ? 1 : n % 2 == 1 ? 4 : 2;
    dissipated += weight * time_step / 3 * dissipation();
    if (n < steps) flow.step(u, u);
  }
  const double lost = before - grid.inner(u, u) / 2;
  proofs.push_back({"energy lost is what dissipates, over a run", std::abs(lost / dissipated - 1), 0, 1e-5});
  std::vector<double> projected = u;
  flow.project(projected);
  proofs.push_back({"divergence after a run", distance(grid, u, projected) / norm(grid, u), 0, 1e-13});
}

void check_vortex(const Grid& grid, std::vector<Proof>& proofs) {
  constexpr double viscosity = 0.05, time_step = 0.01;
  constexpr int steps = 50;
  NavierStokes flow(grid, viscosity, time_step);
  std::vector<double> u(grid.state_size()), exact(grid.state_size());
  fill_vortex(grid, 1, u);
  const double start = grid.inner(u, u);
  for (int n = 0; n < steps; ++n) flow.step(u, u);
  const double decay = std::exp(-4 * viscosity * time_step * steps);
  proofs.push_back(
      {"Taylor-Green: energy against exp(-4 nu t)", std::abs(grid.inner(u, u) / (start * decay) - 1), 0, 1e-10});
  fill_vortex(grid, std::sqrt(decay), exact);
  proofs.push_back({"Taylor-Green: velocity", distance(grid, u, exact) / norm(grid, exact), 0, 1e-10});
  const double coarse = carried_error(grid, 10), fine = carried_error(grid, 20);
  proofs.push_back({"Taylor-Green in a mean flow: order in time", std::log2(coarse / fine), 2.9, 3.1});
}

}  // namespace n3d
