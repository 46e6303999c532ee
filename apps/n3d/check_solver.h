// The proofs that concern the forward solver alone. Collective.
#pragma once

#include "check.h"

namespace n3d {

// The inner product over modes, with the weights of coefficients that stand for two, is that over points.
void check_weights(const Grid& grid, std::uint64_t seed, std::vector<Proof>& proofs);
// What the rate of change keeps: energy, helicity and momentum by the nonlinear term; energy lost is what dissipates.
void check_conservation(const Grid& grid, std::uint64_t seed, std::vector<Proof>& proofs);
// The 2-D vortex: at rest, and carried by a mean flow.
void check_vortex(const Grid& grid, std::vector<Proof>& proofs);

}  // namespace n3d
