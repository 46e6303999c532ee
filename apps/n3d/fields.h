// Velocity fields to start from.
#pragma once

#include <cstdint>
#include <span>

#include "navier_stokes.h"

namespace n3d {

// amplitude (cos x sin y, -sin x cos y, 0), carried to (x - shift[0], y - shift[1]): an exact solution with
// amplitude exp(-2 nu t), and a mean flow c added and shift = c t.
void fill_vortex(const Grid& grid, double amplitude, std::span<double> state, std::array<double, 2> shift = {0, 0});
// The 3-D Taylor-Green vortex, which breaks down into turbulence.
void fill_taylor_green(const Grid& grid, std::span<double> state);
// Noise in every mode, the same for any number of ranks; not free of divergence.
void fill_noise(const Grid& grid, std::uint64_t seed, std::span<double> state);
// Smooth noise without divergence whose mean square is 1.
void fill_random_flow(NavierStokes& flow, std::uint64_t seed, std::span<double> state);

}  // namespace n3d
