#include "store/codec/bench/flows.h"

#include <cmath>
#include <cstdint>
#include <random>

namespace forebay::codec::bench {
namespace {

constexpr double kPi = 3.14159265358979323846;

struct Wave {
  double k[3], amplitude, phase;
};

std::vector<Wave> spectrum(std::size_t edge) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Wave> waves(200);
  const double top = std::log(static_cast<double>(edge) / 4);
  for (Wave& wave : waves) {
    // Evenly spread over the logarithm of k, so that E(k) dk has k^-2/3 in each.
    const double k = std::exp(unit(random) * top);
    const double polar = 2 * unit(random) - 1;
    const double angle = 2 * kPi * unit(random);
    const double flat = std::sqrt(1 - polar * polar);
    const double direction[3] = {flat * std::cos(angle), flat * std::sin(angle), polar};
    for (int axis = 0; axis < 3; ++axis) wave.k[axis] = std::round(k * direction[axis]);
    wave.amplitude = std::pow(k, -1.0 / 3);
    wave.phase = 2 * kPi * unit(random);
  }
  return waves;
}

std::vector<double> turbulent_step(std::size_t edge, const std::vector<Wave>& waves, int step) {
  std::vector<double> field(edge * edge * edge, 0.0);
  const double cell = 2 * kPi / static_cast<double>(edge);
  for (const Wave& wave : waves) {
    // A wave along a line of cells turns by the same angle from cell to cell.
    const double turn_cos = std::cos(wave.k[0] * cell), turn_sin = std::sin(wave.k[0] * cell);
    for (std::size_t line = 0; line < edge * edge; ++line) {
      const std::size_t row = line % edge, plane = line / edge;
      const double y = static_cast<double>(row) * cell, z = static_cast<double>(plane) * cell;
      const double start = wave.k[1] * y + wave.k[2] * z + wave.phase - 0.2 * step * wave.k[0] * cell;
      double real = wave.amplitude * std::cos(start), imaginary = wave.amplitude * std::sin(start);
      for (double* value = &field[line * edge]; value != &field[line * edge] + edge; ++value) {
        *value += real;
        const double turned = real * turn_cos - imaginary * turn_sin;
        imaginary = real * turn_sin + imaginary * turn_cos;
        real = turned;
      }
    }
  }
  return field;
}

std::vector<double> steady_step(std::size_t edge, int step) {
  std::mt19937_64 random(static_cast<std::uint64_t>(step));
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<double> field(edge * edge * edge);
  const double cell = 2 * kPi / static_cast<double>(edge);
  const double residual = 1e-4 * std::exp(-0.05 * step);
  for (std::size_t i = 0; i < field.size(); ++i) {
    const std::size_t line = i / edge, plane = line / edge;
    const double x = static_cast<double>(i % edge) * cell, y = static_cast<double>(line % edge) * cell;
    const double z = static_cast<double>(plane) * cell;
    const double mean = 10 * (1 - std::exp(-y)) + std::sin(x) * std::cos(y) + 0.2 * std::cos(3 * z);
    field[i] = mean + residual * std::sin(2 * x + step) * std::cos(z) + 1e-6 * unit(random);
  }
  return field;
}

}  // namespace

std::optional<std::vector<std::vector<double>>> flow(std::string_view name, std::size_t edge, int steps) {
  const bool is_steady = name == "steady";
  if (!is_steady && name != "turbulent") return std::nullopt;
  const std::vector<Wave> waves = is_steady ? std::vector<Wave>() : spectrum(edge);
  std::vector<std::vector<double>> fields;
  for (int step = 0; step < steps; ++step) {
    fields.push_back(is_steady ? steady_step(edge, step) : turbulent_step(edge, waves, step));
  }
  return fields;
}

}  // namespace forebay::codec::bench
