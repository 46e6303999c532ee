// Points near a place, found in time that does not grow with how many there are; and sets of what becomes one.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "meshes/mesh/coarse.h"

namespace forebay::mesh {

// Neighbours among some points of a mesh. They lie in a grid of cubes, at least twice as wide as the tolerance.
class Nearby {
 public:
  Nearby(std::span<const Point> points, std::span<const std::uint32_t> of, double tolerance);
  // The points that lie no further away than the tolerance, ascending.
  std::vector<std::uint32_t> find(const Point& place) const;

 private:
  using Cube = std::array<std::int64_t, 3>;
  Cube cube_of(const Point& place, double shift) const;
  static std::uint64_t key_of(const Cube& cube);

  std::span<const Point> points_;
  double tolerance_, edge_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> cubes_;  // each point's, sorted
};

// Numbers that are one. The lowest of them stands for all.
class Sets {
 public:
  explicit Sets(std::size_t numbers);
  std::uint32_t operator()(std::uint32_t number) const;
  void merge(std::uint32_t a, std::uint32_t b);

 private:
  mutable std::vector<std::uint32_t> into_;  // ways become shorter when they are gone
};

}  // namespace forebay::mesh
