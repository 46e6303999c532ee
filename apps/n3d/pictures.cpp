#include "pictures.h"

#include <fmt/format.h>

#include <cmath>

#include "base/file.h"

namespace n3d {
namespace {

forebay::Status write_text(const std::string& directory, const char* name, const std::string& text) {
  return forebay::replace_file(forebay::join(directory, name), text);
}

}  // namespace

forebay::Status write_spectrum(NavierStokes& flow, std::span<const double> state, const std::string& directory) {
  const Grid& grid = flow.grid();
  Physical physical = grid.physical();
  Spectral spectral = grid.spectral();
  grid.unpack(state, grid.scale(), physical);
  grid.to_spectral(physical, spectral);
  std::vector<double> shells(grid.points() + 1), all(shells.size());
  grid.for_each_mode([&](const Mode& mode) {
    const auto shell = static_cast<std::size_t>(std::lround(std::sqrt(mode.squared)));
    for (std::size_t c = 0; c < 3; ++c) shells[shell] += 0.5 * mode.weight * std::norm(spectral[c][mode.index]);
  });
  MPI_Allreduce(shells.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, grid.communicator());
  if (grid.rank() != 0) return {};
  std::string text = "wave_number,energy\n";
  for (std::size_t k = 1; 3 * k < grid.points(); ++k) text += fmt::format("{},{:.17g}\n", k, all[k]);
  return write_text(directory, "spectrum.csv", text);
}

forebay::Status write_vorticity(NavierStokes& flow, std::span<const double> state, const std::string& directory) {
  const Grid& grid = flow.grid();
  const std::size_t n = grid.points(), part = state.size() / 3;
  std::vector<double> vorticity(state.size()), plane(n * n), all(n * n);
  flow.curl(state, vorticity);
  for (std::size_t i = 0; i < grid.count_x(); ++i)
    for (std::size_t j = 0; j < n; ++j) plane[(grid.first_x() + i) * n + j] = vorticity[2 * part + (i * n + j) * n];
  MPI_Reduce(plane.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, 0, grid.communicator());
  if (grid.rank() != 0) return {};
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) text += fmt::format("{:.9g}{}", all[i], i % n == n - 1 ? '\n' : ',');
  return write_text(directory, "vorticity.csv", text);
}

forebay::Status write_remainders(const std::vector<Remainder>& remainders, const std::string& directory) {
  std::string text = "objective,epsilon,remainder\n";
  for (const Remainder& r : remainders)
    text += fmt::format("{},{:.17g},{:.17g}\n", r.objective, r.epsilon, r.remainder);
  return write_text(directory, "gradient.csv", text);
}

}  // namespace n3d
