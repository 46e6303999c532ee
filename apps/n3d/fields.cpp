#include "fields.h"

#include <cmath>
#include <vector>

namespace n3d {
namespace {

// splitmix64 (S. Vigna), here as a hash of the point's number
double noise(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = (seed + 1) * 0xd1342543de82ef95U + (number + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

}  // namespace

void fill_vortex(const Grid& grid, double amplitude, std::span<double> state, std::array<double, 2> shift) {
  const std::size_t part = state.size() / 3;
  grid.for_each_point([&](std::size_t i, double x, double y, double) {
    x -= shift[0];
    y -= shift[1];
    state[i] = amplitude * std::cos(x) * std::sin(y);
    state[part + i] = -amplitude * std::sin(x) * std::cos(y);
    state[2 * part + i] = 0;
  });
}

void fill_taylor_green(const Grid& grid, std::span<double> state) {
  const std::size_t part = state.size() / 3;
  grid.for_each_point([&](std::size_t i, double x, double y, double z) {
    state[i] = std::sin(x) * std::cos(y) * std::cos(z);
    state[part + i] = -std::cos(x) * std::sin(y) * std::cos(z);
    state[2 * part + i] = 0;
  });
}

void fill_noise(const Grid& grid, std::uint64_t seed, std::span<double> state) {
  const std::size_t plane = grid.points() * grid.points(), part = state.size() / 3;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < part; ++i)
      state[c * part + i] = noise(seed, c * plane * grid.points() + grid.first_x() * plane + i);
}

void fill_random_flow(NavierStokes& flow, std::uint64_t seed, std::span<double> state) {
  const Grid& grid = flow.grid();
  fill_noise(grid, seed, state);
  Physical physical = grid.physical();
  Spectral spectral = grid.spectral();
  grid.unpack(state, grid.scale(), physical);
  grid.to_spectral(physical, spectral);
  grid.for_each_mode([&](const Mode& mode) {
    const double damping = mode.squared == 0 ? 0 : std::exp(-mode.squared / 8);
    for (std::size_t c = 0; c < 3; ++c) spectral[c][mode.index] *= damping;
  });
  grid.to_physical(spectral, physical);
  grid.pack(physical, state);
  flow.project(state);
  const double size = std::sqrt(grid.inner(state, state));
  for (double& u : state) u /= size;
}

}  // namespace n3d
