#include "objective.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fields.h"

namespace n3d {
namespace {

double factor_of(Measure measure, const NavierStokes& flow) {
  switch (measure) {
    case Measure::energy:
      return 0.5;
    case Measure::dissipation:
      return flow.viscosity();
    case Measure::tracking:
      return flow.time_step() / 2;
  }
  return 0;
}

void keep_region(const Grid& grid, std::span<double> state) {
  constexpr double pi = std::numbers::pi;
  const std::size_t part = state.size() / 3;
  grid.for_each_point([&](std::size_t i, double x, double y, double) {
    if (x >= pi && y >= pi / 2 && y < 3 * pi / 2) return;
    for (std::size_t c = 0; c < 3; ++c) state[c * part + i] = 0;
  });
}

}  // namespace

std::string name_of(Measure measure) {
  switch (measure) {
    case Measure::energy:
      return "energy";
    case Measure::dissipation:
      return "dissipation";
    case Measure::tracking:
      return "tracking";
  }
  return "?";
}

Objective::Objective(NavierStokes& flow, Measure measure, Step steps)
    : flow_(flow),
      measure_(measure),
      steps_(steps),
      factor_(factor_of(measure, flow)),
      deviation_(flow.grid().state_size()),
      work_(flow.grid().state_size()) {}

void Objective::deviation(Step n, std::span<const double> state) {
  switch (measure_) {
    case Measure::energy:
      std::copy(state.begin(), state.end(), deviation_.begin());
      keep_region(flow_.grid(), deviation_);
      return;
    case Measure::dissipation:
      flow_.curl(state, deviation_);
      keep_region(flow_.grid(), deviation_);
      return;
    case Measure::tracking:
      const double time = static_cast<double>(n) * flow_.time_step();
      fill_vortex(flow_.grid(), std::exp(-2 * flow_.viscosity() * time), deviation_);
      for (std::size_t i = 0; i < state.size(); ++i) deviation_[i] = state[i] - deviation_[i];
      return;
  }
}

double Objective::term(Step n, std::span<const double> state) {
  if (!counts(n)) return 0;
  deviation(n, state);
  return factor_ * flow_.grid().inner(deviation_, deviation_);
}

void Objective::add_derivative(Step n, std::span<const double> state, std::span<double> adjoint) {
  if (!counts(n)) return;
  deviation(n, state);
  // chi chi = chi and curl is symmetric, so its transpose is applied by applying it once more.
  if (measure_ == Measure::dissipation) flow_.curl(deviation_, work_);
  const std::vector<double>& derivative = measure_ == Measure::dissipation ? work_ : deviation_;
  for (std::size_t i = 0; i < adjoint.size(); ++i) adjoint[i] += 2 * factor_ * derivative[i];
}

}  // namespace n3d
