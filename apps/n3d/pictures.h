// Data that n3d_pictures.py draws, as text that any tool reads. Rank 0 writes.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "navier_stokes.h"

namespace n3d {

// spectrum.csv: wave number, energy in the shell around it. Collective.
forebay::Status write_spectrum(NavierStokes& flow, std::span<const double> state, const std::string& directory);
// vorticity.csv: its z component on the plane z = 0, a line for each x. Collective.
forebay::Status write_vorticity(NavierStokes& flow, std::span<const double> state, const std::string& directory);

// The remainder |J(u + eps h) - J(u) - eps <g, h>| by eps.
struct Remainder {
  std::string objective;
  double epsilon = 0, remainder = 0;
};
// gradient.csv
forebay::Status write_remainders(const std::vector<Remainder>& remainders, const std::string& directory);

}  // namespace n3d
