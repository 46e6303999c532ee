#include "grid.h"

#include <cmath>
#include <numbers>

namespace n3d {

Grid::Grid(MPI_Comm communicator, std::size_t points)
    : communicator_(communicator), points_(points), scale_(1.0 / std::pow(static_cast<double>(points), 3)) {
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &ranks_);
  const auto n = static_cast<std::ptrdiff_t>(points);
  std::ptrdiff_t x_count = 0, x_first = 0, ky_count = 0, ky_first = 0;
  allocated_ = static_cast<std::size_t>(
      fftw_mpi_local_size_3d_transposed(n, n, n / 2 + 1, communicator_, &x_count, &x_first, &ky_count, &ky_first));
  first_x_ = static_cast<std::size_t>(x_first);
  count_x_ = static_cast<std::size_t>(x_count);
  first_ky_ = static_cast<std::size_t>(ky_first);
  count_ky_ = static_cast<std::size_t>(ky_count);

  // FFTW_ESTIMATE: plans that were measured differ from run to run, and with them the last bits of every result.
  Buffer<double> real(2 * allocated_);
  Buffer<Complex> complex(allocated_);
  auto* coefficients = reinterpret_cast<fftw_complex*>(complex.data());
  forward_ = fftw_mpi_plan_dft_r2c_3d(n, n, n, real.data(), coefficients, communicator_,
                                      FFTW_ESTIMATE | FFTW_DESTROY_INPUT | FFTW_MPI_TRANSPOSED_OUT);
  backward_ = fftw_mpi_plan_dft_c2r_3d(n, n, n, coefficients, real.data(), communicator_,
                                       FFTW_ESTIMATE | FFTW_DESTROY_INPUT | FFTW_MPI_TRANSPOSED_IN);
}

Grid::~Grid() {
  fftw_destroy_plan(forward_);
  fftw_destroy_plan(backward_);
}

double Grid::coordinate(std::size_t i) const {
  return 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(points_);
}

double Grid::wave_number(std::size_t i) const {
  const double k = static_cast<double>(i);
  return i <= points_ / 2 ? k : k - static_cast<double>(points_);
}

void Grid::to_spectral(Physical& in, Spectral& out) const {
  for (std::size_t c = 0; c < 3; ++c)
    fftw_mpi_execute_dft_r2c(forward_, in[c].data(), reinterpret_cast<fftw_complex*>(out[c].data()));
}

void Grid::to_physical(Spectral& in, Physical& out) const {
  for (std::size_t c = 0; c < 3; ++c)
    fftw_mpi_execute_dft_c2r(backward_, reinterpret_cast<fftw_complex*>(in[c].data()), out[c].data());
}

void Grid::unpack(std::span<const double> state, double factor, Physical& out) const {
  const double* from = state.data();
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t row = 0; row < count_x_ * points_; ++row, from += points_) {
      double* to = out[c].data() + row * padded();
      for (std::size_t k = 0; k < points_; ++k) to[k] = factor * from[k];
    }
}

void Grid::pack(const Physical& in, std::span<double> state) const {
  double* to = state.data();
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t row = 0; row < count_x_ * points_; ++row, to += points_)
      std::copy_n(in[c].data() + row * padded(), points_, to);
}

double Grid::sum(double mine) const {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, communicator_);
  return all;
}

double Grid::maximum(double mine) const {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, communicator_);
  return all;
}

double Grid::inner(std::span<const double> a, std::span<const double> b) const {
  // Row by row, so that rounding grows with the length of a row and not of the state.
  double total = 0;
  for (std::size_t row = 0; row < a.size(); row += points_) {
    double part = 0;
    for (std::size_t k = row; k < row + points_; ++k) part += a[k] * b[k];
    total += part;
  }
  return sum(total) * scale_;
}

}  // namespace n3d
