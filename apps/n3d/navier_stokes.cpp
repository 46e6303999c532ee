#include "navier_stokes.h"

namespace n3d {
namespace {

// u' = start[i] u + rest[i] (u_i + dt F(u_i)): the three stages of SSP-RK3.
constexpr std::array<double, 3> start_share{0, 3.0 / 4, 1.0 / 3};
constexpr std::array<double, 3> stage_share{1, 1.0 / 4, 2.0 / 3};

using Coefficients = std::array<Complex, 3>;

Coefficients at(const Spectral& field, std::size_t index) {
  return {field[0][index], field[1][index], field[2][index]};
}

void put(Spectral& field, std::size_t index, const Coefficients& value) {
  for (std::size_t c = 0; c < 3; ++c) field[c][index] = value[c];
}

// i z, without the checks for infinity of a complex product
Complex turned(Complex z) {
  return {-z.imag(), z.real()};
}

Coefficients curl_of(const Mode& mode, const Coefficients& v) {
  const auto& k = mode.k;
  return {turned(k[1] * v[2] - k[2] * v[1]), turned(k[2] * v[0] - k[0] * v[2]), turned(k[0] * v[1] - k[1] * v[0])};
}

// P D
Coefficients projected(const Mode& mode, const Coefficients& v) {
  if (!mode.kept) return {};
  if (mode.projected == 0) return v;
  const Complex along = (mode.k[0] * v[0] + mode.k[1] * v[1] + mode.k[2] * v[2]) / mode.projected;
  return {v[0] - mode.k[0] * along, v[1] - mode.k[1] * along, v[2] - mode.k[2] * along};
}

// out = factor a x b, or added to it
template <bool add>
void cross(const Physical& a, const Physical& b, double factor, Physical& out) {
  const double *a0 = a[0].data(), *a1 = a[1].data(), *a2 = a[2].data();
  const double *b0 = b[0].data(), *b1 = b[1].data(), *b2 = b[2].data();
  double *out0 = out[0].data(), *out1 = out[1].data(), *out2 = out[2].data();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double c0 = factor * (a1[i] * b2[i] - a2[i] * b1[i]);
    const double c1 = factor * (a2[i] * b0[i] - a0[i] * b2[i]);
    const double c2 = factor * (a0[i] * b1[i] - a1[i] * b0[i]);
    out0[i] = add ? out0[i] + c0 : c0;
    out1[i] = add ? out1[i] + c1 : c1;
    out2[i] = add ? out2[i] + c2 : c2;
  }
}

void copy(const Spectral& from, Spectral& to) {
  for (std::size_t c = 0; c < 3; ++c) std::copy_n(from[c].data(), from.size(), to[c].data());
}

}  // namespace

NavierStokes::NavierStokes(const Grid& grid, double viscosity, double time_step)
    : grid_(grid),
      viscosity_(viscosity),
      time_step_(time_step),
      stages_{Stage(grid), Stage(grid), Stage(grid)},
      perturbation_(grid),
      start_(grid.spectral()),
      velocity_(grid.spectral()),
      start_perturbation_(grid.spectral()),
      other_(grid.spectral()),
      sum_(grid.spectral()),
      scratch_(grid.spectral()),
      more_scratch_(grid.spectral()),
      product_(grid.physical()) {}

void NavierStokes::load(std::span<const double> state, Spectral& out) {
  grid_.unpack(state, grid_.scale(), product_);
  grid_.to_spectral(product_, out);
}

void NavierStokes::unload(const Spectral& in, std::span<double> state) {
  copy(in, scratch_);
  grid_.to_physical(scratch_, product_);
  grid_.pack(product_, state);
}

void NavierStokes::fill(const Spectral& velocity, Stage& stage) {
  copy(velocity, scratch_);
  grid_.to_physical(scratch_, stage.velocity);
  grid_.for_each_mode([&](const Mode& mode) { put(scratch_, mode.index, curl_of(mode, at(velocity, mode.index))); });
  grid_.to_physical(scratch_, stage.vorticity);
}

// The same where the velocity is at hand, which saves three transforms.
void NavierStokes::fill_first(std::span<const double> state, const Spectral& velocity, Stage& stage) {
  grid_.unpack(state, 1.0, stage.velocity);
  grid_.for_each_mode([&](const Mode& mode) { put(scratch_, mode.index, curl_of(mode, at(velocity, mode.index))); });
  grid_.to_physical(scratch_, stage.vorticity);
}

void NavierStokes::advance(const Stage& stage, std::size_t number, Spectral& velocity) {
  cross<false>(stage.velocity, stage.vorticity, grid_.scale(), product_);
  combine(start_, number, velocity);
}

// The end of stage `number` of a step from `start`: u there becomes u', with the nonlinear term from product_.
void NavierStokes::combine(const Spectral& start, std::size_t number, Spectral& field) {
  grid_.to_spectral(product_, scratch_);
  const double a = start_share[number], b = stage_share[number];
  grid_.for_each_mode([&](const Mode& mode) {
    const Coefficients nonlinear = projected(mode, at(scratch_, mode.index));
    const double decay = 1 - time_step_ * viscosity_ * mode.squared;
    for (std::size_t c = 0; c < 3; ++c) {
      Complex& u = field[c][mode.index];
      u = a * start[c][mode.index] + b * (decay * u + time_step_ * nonlinear[c]);
    }
  });
}

void NavierStokes::step(std::span<const double> from, std::span<double> to) {
  load(from, start_);
  copy(start_, velocity_);
  fill_first(from, velocity_, stages_[0]);
  advance(stages_[0], 0, velocity_);
  for (std::size_t number : {1U, 2U}) {
    fill(velocity_, stages_[0]);
    advance(stages_[0], number, velocity_);
  }
  unload(velocity_, to);
}

void NavierStokes::tangent_stage(const Stage& stage, std::size_t number, Spectral& v) {
  cross<false>(perturbation_.velocity, stage.vorticity, grid_.scale(), product_);
  cross<true>(stage.velocity, perturbation_.vorticity, grid_.scale(), product_);
  combine(start_perturbation_, number, v);
}

void NavierStokes::tangent_step(std::span<const double> from, std::span<double> v) {
  load(from, start_);
  copy(start_, velocity_);
  load(v, start_perturbation_);
  copy(start_perturbation_, other_);
  for (std::size_t number = 0; number < 3; ++number) {
    number == 0 ? fill_first(from, velocity_, stages_[0]) : fill(velocity_, stages_[0]);
    number == 0 ? fill_first(v, other_, perturbation_) : fill(other_, perturbation_);
    tangent_stage(stages_[0], number, other_);
    advance(stages_[0], number, velocity_);
  }
  unload(other_, v);
}

// m becomes m + dt F'(u)^T m
void NavierStokes::adjoint_stage(const Stage& stage, Spectral& m) {
  Physical& q = perturbation_.velocity;
  grid_.for_each_mode([&](const Mode& mode) { put(scratch_, mode.index, projected(mode, at(m, mode.index))); });
  grid_.to_physical(scratch_, q);
  cross<false>(stage.vorticity, q, grid_.scale(), product_);
  grid_.to_spectral(product_, scratch_);
  cross<false>(q, stage.velocity, grid_.scale(), product_);
  grid_.to_spectral(product_, more_scratch_);
  grid_.for_each_mode([&](const Mode& mode) {
    const Coefficients curled = curl_of(mode, at(more_scratch_, mode.index));
    const double decay = 1 - time_step_ * viscosity_ * mode.squared;
    for (std::size_t c = 0; c < 3; ++c)
      m[c][mode.index] = decay * m[c][mode.index] + time_step_ * (scratch_[c][mode.index] + curled[c]);
  });
}

void NavierStokes::adjoint_step(std::span<const double> from, std::span<double> m) {
  load(from, start_);
  copy(start_, velocity_);
  fill_first(from, velocity_, stages_[0]);
  for (std::size_t number : {0U, 1U}) {
    advance(stages_[number], number, velocity_);
    fill(velocity_, stages_[number + 1]);
  }
  load(m, other_);
  for (std::size_t c = 0; c < 3; ++c) std::fill_n(sum_[c].data(), sum_.size(), Complex{});
  for (std::size_t number : {2U, 1U, 0U}) {
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t i = 0; i < sum_.size(); ++i) {
        sum_[c][i] += start_share[number] * other_[c][i];
        other_[c][i] *= stage_share[number];
      }
    adjoint_stage(stages_[number], other_);
  }
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[c][i] += other_[c][i];
  unload(sum_, m);
}

void NavierStokes::project(std::span<double> state) {
  load(state, velocity_);
  grid_.for_each_mode(
      [&](const Mode& mode) { put(velocity_, mode.index, projected(mode, at(velocity_, mode.index))); });
  unload(velocity_, state);
}

void NavierStokes::curl(std::span<const double> state, std::span<double> out) {
  load(state, velocity_);
  grid_.for_each_mode([&](const Mode& mode) { put(velocity_, mode.index, curl_of(mode, at(velocity_, mode.index))); });
  unload(velocity_, out);
}

void NavierStokes::rate(std::span<const double> state, std::span<double> out) {
  load(state, velocity_);
  fill_first(state, velocity_, stages_[0]);
  cross<false>(stages_[0].velocity, stages_[0].vorticity, grid_.scale(), product_);
  grid_.to_spectral(product_, scratch_);
  grid_.for_each_mode([&](const Mode& mode) {
    const Coefficients nonlinear = projected(mode, at(scratch_, mode.index));
    for (std::size_t c = 0; c < 3; ++c)
      velocity_[c][mode.index] = nonlinear[c] - viscosity_ * mode.squared * velocity_[c][mode.index];
  });
  unload(velocity_, out);
}

}  // namespace n3d
