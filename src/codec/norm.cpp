#include "codec/norm.h"

#include <algorithm>
#include <cmath>

namespace forebay::codec {

template <class Real>
Norm norm_of(std::span<const Real> field) {
  Norm norm;
  double largest[Squares::kLanes] = {};
  // NaN is lost in a maximum, but not in 0 times the value.
  double zeros[Squares::kLanes] = {};
  for (std::size_t i = 0; i < field.size(); i += Squares::kLanes) {
    const std::size_t lanes = std::min(Squares::kLanes, field.size() - i);
    const auto look = [&](std::size_t lane) {
      const double value = std::fabs(static_cast<double>(field[i + lane]));
      largest[lane] = value > largest[lane] ? value : largest[lane];
      zeros[lane] += value * 0.0;
    };
    if (lanes == Squares::kLanes) {
      for (std::size_t lane = 0; lane < Squares::kLanes; ++lane) look(lane);
    } else {
      for (std::size_t lane = 0; lane < lanes; ++lane) look(lane);
    }
  }
  for (const double lane : zeros) norm.finite = norm.finite && lane == 0;
  norm.largest = *std::max_element(std::begin(largest), std::end(largest));
  if (!norm.finite || norm.largest == 0) return norm;

  norm.scale = std::ldexp(1.0, std::clamp(-std::ilogb(norm.largest), -1000, 1000));
  Squares squares(norm.scale);
  squares.add(field.size(), [&](std::size_t i) { return static_cast<double>(field[i]); });
  norm.squares = squares.sum();
  norm.rms = std::sqrt(norm.squares / static_cast<double>(field.size())) / norm.scale;
  return norm;
}

template Norm norm_of(std::span<const double>);
template Norm norm_of(std::span<const float>);

}  // namespace forebay::codec
