// Steepest descent in the initial velocity, with a line search that halves the step until J falls enough (Armijo).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sweep.h"

namespace n3d {

struct Iteration {
  double value = 0;
  double gradient_norm = 0;  // of its part that keeps the energy, where that is kept
  double step = 0;           // that was taken from here; 0 where the search ended
  int evaluations = 0;       // forward runs of the line search
};

// Makes `start` better, `iterations` times at most. Energy and dissipation keep the energy of the start (else no flow
// at all would be best). `told` is called after each iteration. The last element is where it ended.
Result<std::vector<Iteration>> optimise(Sweep& sweep, const Grid& grid, Measure measure, int iterations,
                                        std::vector<double>& start, std::vector<double>& gradient,
                                        const std::function<void(std::size_t, const Iteration&)>& told);

}  // namespace n3d
