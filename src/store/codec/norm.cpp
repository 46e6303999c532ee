#include "store/codec/norm.h"

#include <algorithm>
#include <cmath>

namespace forebay::codec {

namespace {

// Sums that are neither near overflow nor near zero need no scale.
constexpr double kLeast = 1e-200, kMost = 1e200;

struct Extent {
  double largest = 0;
  double squares = 0;  // Inf or NaN where a value is, or where they overflow
};

template <class Real>
Extent extent_of(std::span<const Real> field) {
  double largest[Squares::kLanes] = {};
  double squares[Squares::kLanes] = {};
  std::size_t i = 0;
  for (; i + Squares::kLanes <= field.size(); i += Squares::kLanes) {
    for (std::size_t lane = 0; lane < Squares::kLanes; ++lane) {
      const double value = std::fabs(static_cast<double>(field[i + lane]));
      largest[lane] = largest[lane] > value ? largest[lane] : value;
      squares[lane] += value * value;
    }
  }
  for (; i < field.size(); ++i) {
    const double value = std::fabs(static_cast<double>(field[i]));
    largest[0] = largest[0] > value ? largest[0] : value;
    squares[0] += value * value;
  }
  Extent extent;
  for (std::size_t lane = 0; lane < Squares::kLanes; ++lane) {
    extent.largest = std::max(extent.largest, largest[lane]);
    extent.squares += squares[lane];
  }
  return extent;
}

}  // namespace

template <class Real>
Norm norm_of(std::span<const Real> field) {
  const Extent extent = extent_of(field);
  Norm norm;
  norm.largest = extent.largest;
  norm.squares = extent.squares;
  if (!(norm.squares > kLeast && norm.squares < kMost)) {
    norm.finite = std::all_of(field.begin(), field.end(), [](Real value) { return std::isfinite(value); });
    if (!norm.finite || norm.largest == 0) return norm;
    norm.scale = std::ldexp(1.0, std::clamp(-std::ilogb(norm.largest), -1000, 1000));
    Squares squares(norm.scale);
    squares.add(field.size(), [&](std::size_t i) { return static_cast<double>(field[i]); });
    norm.squares = squares.sum();
  }
  norm.rms = std::sqrt(norm.squares / static_cast<double>(field.size())) / norm.scale;
  return norm;
}

template Norm norm_of(std::span<const double>);
template Norm norm_of(std::span<const float>);

}  // namespace forebay::codec
