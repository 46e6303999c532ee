// Norms of fields of any magnitude, summed in an order that no compiler changes.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace forebay::codec {

struct Norm {
  bool finite = true;
  double largest = 0;  // magnitude
  // A power of two that values are multiplied by, so that their squares neither overflow nor vanish.
  double scale = 1;
  double squares = 0;  // of the scaled values
  double rms = 0;
};
template <class Real>
Norm norm_of(std::span<const Real> field);

// Sums squares in 8 lanes, which compilers turn into vectors.
class Squares {
 public:
  static constexpr std::size_t kLanes = 8;
  explicit Squares(double scale) : scale_(scale) {}
  // `error(i)` for i in [0, count)
  template <class Error>
  void add(std::size_t count, Error error) {
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double value = error(i + lane) * scale_;
        sums_[lane] += value * value;
      }
    }
    for (; i < count; ++i) {
      const double value = error(i) * scale_;
      sums_[0] += value * value;
    }
  }
  double sum() const {
    double total = 0;
    for (const double part : sums_) total += part;
    return total;
  }

 private:
  double scale_;
  double sums_[kLanes] = {};
};

// The relative error of the differences summed in `errors` to the field of `norm`.
inline double relative(const Squares& errors, const Norm& norm) {
  const double squares = errors.sum();
  return squares == 0 ? 0 : std::sqrt(squares / norm.squares);
}

}  // namespace forebay::codec
