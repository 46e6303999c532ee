// What each codec makes of two fields at several accepted errors: ratio, measured error, GB/s of the field encoded and
// decoded by one thread.
//   codec_bench [EDGE]    fields of EDGE^3 values (64)
//
// `steady`: a smooth mean flow that hardly changes from step to step, with the residual of an iterative solver.
// `turbulent`: 200 random waves with an energy spectrum of k^-5/3, carried past by a mean flow; a step is 0.2 of what
// moves the shortest wave by a cell.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "codec/codec.h"

namespace {

using namespace forebay::codec;
constexpr int kSteps = 12;
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

std::vector<double> turbulent(std::size_t edge, const std::vector<Wave>& waves, int step) {
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

std::vector<double> steady(std::size_t edge, int step) {
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

void show(const char* title, const std::vector<std::vector<double>>& fields, std::uint32_t edge) {
  std::vector<std::span<const double>> steps(fields.begin(), fields.end());
  for (const double accepted : {1e-3, 1e-4, 1e-6, 1e-9}) {
    fmt::print("\n{} field, accepted error {:.0e}\n{:<12} {:>7} {:>10} {:>12} {:>12}\n", title, accepted, "codec",
               "ratio", "error", "encode GB/s", "decode GB/s");
    Workspace workspace;
    const Settings settings{.accepted = accepted, .shape = {edge, edge, edge}};
    const auto trials = measure(std::span<const std::span<const double>>(steps), settings, workspace);
    if (!trials) {
      fmt::print("{}\n", text(trials.error()));
      continue;
    }
    for (const Trial& trial : *trials) {
      fmt::print("{:<12} {:>7.2f} {:>10.2e} {:>12.2f} {:>12.2f} {}\n", name(trial.codec), trial.ratio, trial.error,
                 trial.encode_rate / 1e9, trial.decode_rate / 1e9, text(trial.fallback));
    }
    const Rates slow{.write = 0.1e9, .read = 0.1e9, .threads = 1};
    const Rates fast{.write = 2e9, .read = 4e9, .threads = 1};
    fmt::print("chosen for 0.1 GB/s each way: {}; for 2 and 4: {}; to fit three times as much: {}\n",
               name((*trials)[choose(*trials, slow)].codec), name((*trials)[choose(*trials, fast)].codec),
               name((*trials)[choose(*trials, {.write = 8e9, .read = 8e9, .needed_ratio = 3})].codec));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long wanted = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 64;
  if (argc > 2 || wanted < 8 || wanted > 512) {
    fmt::print(stderr, "usage: codec_bench [EDGE]   (8 to 512)\n");
    return 2;
  }
  const auto edge = static_cast<std::uint32_t>(wanted);
  const std::vector<Wave> waves = spectrum(edge);
  std::vector<std::vector<double>> quiet, rough;
  for (int step = 0; step < kSteps; ++step) {
    quiet.push_back(steady(edge, step));
    rough.push_back(turbulent(edge, waves, step));
  }
  show("steady", quiet, edge);
  show("turbulent", rough, edge);
  return 0;
}
