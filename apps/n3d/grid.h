// The periodic box of side 2 pi with N points a side, cut into slabs, and its Fourier transform.
//
//   physical   [x, this rank's][y][z, padded to 2 (N/2 + 1)]          doubles
//   spectral   [ky, this rank's][kx][kz = 0 .. N/2]                   complex; FFTW's transposed order saves a
//   transpose state      [component][x, this rank's][y][z]                      doubles, no padding: what is stored and
//   compared
//
// Coefficients are those of u(x) = sum_k û(k) exp(i k.x). Since fields are real, half of them are kept, and a sum over
// all wave numbers counts those with 0 < kz < N/2 twice (Mode::weight).
#pragma once

#include <fftw3-mpi.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace n3d {

using Complex = std::complex<double>;

// Zeroed memory with the alignment that FFTW plans expect.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : data_(static_cast<T*>(fftw_malloc(count * sizeof(T)))), count_(count) {
    std::fill_n(data_.get(), count_, T{});
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* memory) const { fftw_free(memory); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_;
};

struct Mode {
  std::size_t index;        // into a spectral buffer
  std::array<double, 3> k;  // for odd derivatives: 0 at the Nyquist wave number, whose derivative is not real
  double squared;           // |k|^2, Nyquist included
  double projected;         // |k|^2 of `k`
  double weight;            // of this coefficient in a sum over all wave numbers
  bool kept;                // survives the 2/3 rule
};

// A vector field on the grid; three buffers of equal size.
template <class T>
struct Vector {
  explicit Vector(std::size_t count) : part{Buffer<T>(count), Buffer<T>(count), Buffer<T>(count)} {}
  Buffer<T>& operator[](std::size_t i) { return part[i]; }
  const Buffer<T>& operator[](std::size_t i) const { return part[i]; }
  std::size_t size() const { return part[0].size(); }
  std::array<Buffer<T>, 3> part;
};
using Physical = Vector<double>;
using Spectral = Vector<Complex>;

// All ranks of the communicator make it together, and take part in every transform and every sum.
class Grid {
 public:
  Grid(MPI_Comm communicator, std::size_t points);
  ~Grid();
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  MPI_Comm communicator() const { return communicator_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  std::size_t points() const { return points_; }
  std::size_t first_x() const { return first_x_; }
  std::size_t count_x() const { return count_x_; }
  std::size_t padded() const { return 2 * (points_ / 2 + 1); }
  std::size_t state_size() const { return 3 * count_x_ * points_ * points_; }
  double coordinate(std::size_t i) const;
  // 1 / N^3: the factor that the input of to_spectral carries, so that no pass over memory is spent on it.
  double scale() const { return scale_; }

  Physical physical() const { return Physical(2 * allocated_); }
  Spectral spectral() const { return Spectral(allocated_); }

  // Both destroy `in`.
  void to_spectral(Physical& in, Spectral& out) const;
  void to_physical(Spectral& in, Physical& out) const;
  void unpack(std::span<const double> state, double factor, Physical& out) const;
  void pack(const Physical& in, std::span<double> state) const;

  // Sums over all ranks; every rank gets the same bits.
  double sum(double mine) const;
  double maximum(double mine) const;
  // The mean of a.b over the box: the inner product of all gradients here.
  double inner(std::span<const double> a, std::span<const double> b) const;

  template <class Visit>
  void for_each_mode(Visit&& visit) const;
  // visit(index into one component of a state, x, y, z)
  template <class Visit>
  void for_each_point(Visit&& visit) const;

 private:
  double wave_number(std::size_t i) const;

  MPI_Comm communicator_;
  int rank_ = 0, ranks_ = 1;
  std::size_t points_, first_x_ = 0, count_x_ = 0, first_ky_ = 0, count_ky_ = 0, allocated_ = 0;
  double scale_;
  fftw_plan forward_ = nullptr, backward_ = nullptr;
};

template <class Visit>
void Grid::for_each_mode(Visit&& visit) const {
  const std::size_t half = points_ / 2;
  const auto odd = [half](std::size_t i, double k) { return i == half ? 0.0 : k; };
  const double limit = static_cast<double>(points_) / 3.0;
  std::size_t index = 0;
  for (std::size_t j = first_ky_; j < first_ky_ + count_ky_; ++j) {
    const double ky = wave_number(j);
    for (std::size_t i = 0; i < points_; ++i) {
      const double kx = wave_number(i);
      const bool kept = std::abs(kx) < limit && std::abs(ky) < limit;
      for (std::size_t l = 0; l <= half; ++l, ++index) {
        const double kz = static_cast<double>(l);
        const std::array<double, 3> k{odd(i, kx), odd(j, ky), odd(l, kz)};
        visit(Mode{.index = index,
                   .k = k,
                   .squared = kx * kx + ky * ky + kz * kz,
                   .projected = k[0] * k[0] + k[1] * k[1] + k[2] * k[2],
                   .weight = l == 0 || l == half ? 1.0 : 2.0,
                   .kept = kept && kz < limit});
      }
    }
  }
}

template <class Visit>
void Grid::for_each_point(Visit&& visit) const {
  std::size_t index = 0;
  for (std::size_t i = 0; i < count_x_; ++i)
    for (std::size_t j = 0; j < points_; ++j)
      for (std::size_t k = 0; k < points_; ++k, ++index)
        visit(index, coordinate(first_x_ + i), coordinate(j), coordinate(k));
}

}  // namespace n3d
