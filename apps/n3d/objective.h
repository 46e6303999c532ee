// What a run is asked about, as a sum over states u^0 .. u^l, and its derivative by each state.
//
//   energy       1/2 mean(chi |u^l|^2)           at the end, in a region
//   dissipation  nu mean(chi |curl u^l|^2)       at the end, in a region
//   tracking     dt/2 sum_n mean(|u^n - v(t_n)|^2), n = 1 .. l; v is the decaying 2-D Taylor-Green vortex
//
// chi is 1 in the region pi <= x < 2 pi, pi/2 <= y < 3 pi/2, and 0 elsewhere.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "navier_stokes.h"
#include "store/schedule/schedule.h"

namespace n3d {

using forebay::schedule::Step;

enum class Measure { energy, dissipation, tracking };
std::string name_of(Measure measure);

class Objective {
 public:
  Objective(NavierStokes& flow, Measure measure, Step steps);

  Step steps() const { return steps_; }
  Measure measure() const { return measure_; }
  // The term of state n. Collective.
  double term(Step n, std::span<const double> state);
  // Adds the derivative of that term, in the mean of a.b, to `adjoint`. Collective.
  void add_derivative(Step n, std::span<const double> state, std::span<double> adjoint);

 private:
  bool counts(Step n) const { return measure_ == Measure::tracking ? n > 0 : n == steps_; }
  // What the term is the square of: chi u, chi curl u, u - v.
  void deviation(Step n, std::span<const double> state);

  NavierStokes& flow_;
  Measure measure_;
  Step steps_;
  double factor_;  // the term is factor mean(deviation^2)
  std::vector<double> deviation_, work_;
};

}  // namespace n3d
