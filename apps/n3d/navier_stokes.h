// Incompressible flow: one time step, its derivative, and the transpose of that derivative.
//
//   du/dt = F(u) = P D (u x curl u) + nu Lap u          P: projection onto fields without divergence, D: 2/3 rule
//   u1 = u + dt F(u);  u2 = 3/4 u + 1/4 (u1 + dt F(u1));  u+ = 1/3 u + 2/3 (u2 + dt F(u2))               (SSP-RK3)
//
// P, D, curl and Lap are symmetric in the mean of a.b over the points, so with q = P D m and w = curl u
//   F'(u) v = P D (v x w + u x curl v) + nu Lap v,      F'(u)^T m = w x q + curl(q x u) + nu Lap m
// and the transposed step runs the three stages backwards. Only the state at the start of the step is needed: its
// stages are computed again. All of it holds for any real states, also such as are not free of divergence.
//
// Every function is collective over the ranks of the grid; states may lie anywhere and may not overlap unless equal.
#pragma once

#include <array>
#include <span>

#include "grid.h"

namespace n3d {

class NavierStokes {
 public:
  NavierStokes(const Grid& grid, double viscosity, double time_step);

  const Grid& grid() const { return grid_; }
  double viscosity() const { return viscosity_; }
  double time_step() const { return time_step_; }

  void step(std::span<const double> from, std::span<double> to);
  // Replaces v by the derivative of the step at `from` applied to v.
  void tangent_step(std::span<const double> from, std::span<double> v);
  // Replaces m by the transpose of that derivative applied to m.
  void adjoint_step(std::span<const double> from, std::span<double> m);

  // P D, in place.
  void project(std::span<double> state);
  void curl(std::span<const double> state, std::span<double> out);
  void rate(std::span<const double> state, std::span<double> out);  // F

 private:
  struct Stage {
    explicit Stage(const Grid& grid) : velocity(grid.physical()), vorticity(grid.physical()) {}
    Physical velocity, vorticity;
  };

  void load(std::span<const double> state, Spectral& out);
  void unload(const Spectral& in, std::span<double> state);
  void fill(const Spectral& velocity, Stage& stage);
  void fill_first(std::span<const double> state, const Spectral& velocity, Stage& stage);
  void advance(const Stage& stage, std::size_t number, Spectral& velocity);
  void combine(const Spectral& start, std::size_t number, Spectral& field);
  void tangent_stage(const Stage& stage, std::size_t number, Spectral& v);
  void adjoint_stage(const Stage& stage, Spectral& m);

  const Grid& grid_;
  double viscosity_, time_step_;
  std::array<Stage, 3> stages_;
  Stage perturbation_;
  Spectral start_, velocity_, start_perturbation_, other_, sum_;  // values that live through a step
  Spectral scratch_, more_scratch_;                               // these do not
  Physical product_;
};

}  // namespace n3d
