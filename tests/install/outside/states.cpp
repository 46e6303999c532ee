// The model of docs/store/trajectory.md in C++, over the states of the trajectory.
#include <forebay/version.h>
#include <forebay/trajectory.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

int main() {
  constexpr std::size_t n = 1000;
  constexpr double dt = 0.01;
  if (std::strcmp(forebay_version(), FOREBAY_VERSION_TEXT) != 0) return 1;
  forebay::Trajectory states({.tiers = {forebay::pool("/dev/shm", 100'000'000)}});
  states.declare<double>("u", n);
  std::vector<double> u(n);
  for (std::size_t i = 0; i < n; ++i) u[i] = 0.001 * static_cast<double>(i);
  for (std::int64_t k = 0; k < 200; ++k) {
    auto step = states.begin(k, dt * static_cast<double>(k));
    const auto stored = step.field<double>(0);
    std::copy(u.begin(), u.end(), stored.begin());
    step.commit();
    for (std::size_t i = 0; i < n; ++i) u[i] += dt * (std::sin(stored[i == 0 ? n - 1 : i - 1]) - stored[i]);
  }
  std::vector<double> w = u;
  for (const auto& state : states.reverse()) {
    const auto stored = state.field<double>(0);
    const double first = w[0];
    for (std::size_t i = 0; i < n; ++i) {
      w[i] += dt * (std::cos(stored[i]) * (i + 1 < n ? w[i + 1] : first) - w[i]);
    }
  }
  std::printf("%.10e\n", std::inner_product(w.begin(), w.end(), w.begin(), 0.0));
}
