#include "optimise.h"

#include <cmath>

namespace n3d {
namespace {

constexpr double enough = 1e-4;  // of the fall that the gradient promises
constexpr int most_halvings = 20;

void scale_to(const Grid& grid, double norm, std::vector<double>& state) {
  const double factor = norm / std::sqrt(grid.inner(state, state));
  for (double& u : state) u *= factor;
}

}  // namespace

Result<std::vector<Iteration>> optimise(Sweep& sweep, const Grid& grid, Measure measure, int iterations,
                                        std::vector<double>& start, std::vector<double>& gradient,
                                        const std::function<void(std::size_t, const Iteration&)>& told) {
  const bool keeps_energy = measure != Measure::tracking;
  const double norm = std::sqrt(grid.inner(start, start));
  std::vector<Iteration> history;
  std::vector<double> direction(start.size()), trial(start.size());
  double step = 0;
  for (int i = 0;; ++i) {
    const auto value = sweep.gradient(start, gradient);
    if (!value) return forebay::forward(value);
    const double along = keeps_energy ? grid.inner(gradient, start) / (norm * norm) : 0;
    for (std::size_t k = 0; k < start.size(); ++k) direction[k] = gradient[k] - along * start[k];
    const double slope = grid.inner(direction, direction);
    Iteration iteration{.value = *value, .gradient_norm = std::sqrt(slope)};
    if (i < iterations && slope > 0) {
      // The first step moves by a tenth of the start; later ones try twice the last.
      step = step > 0 ? 2 * step : 0.1 * norm / std::sqrt(slope);
      for (int halvings = 0; halvings < most_halvings; ++halvings, step /= 2) {
        for (std::size_t k = 0; k < start.size(); ++k) trial[k] = start[k] - step * direction[k];
        if (keeps_energy) scale_to(grid, norm, trial);
        ++iteration.evaluations;
        const bool falls = sweep.value(trial) <= *value - enough * step * slope;
        if (!falls) continue;  // also where the trial blew up
        iteration.step = step;
        start.swap(trial);
        break;
      }
    }
    told(history.size(), iteration);
    history.push_back(iteration);
    if (iteration.step == 0) return history;
  }
}

}  // namespace n3d
