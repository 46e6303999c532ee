#include "meshes/mesh/nearby.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "meshes/mesh/vector.h"

namespace forebay::mesh {
namespace {

constexpr double kLeastCube = 0x1p-30;  // of the largest coordinate: where the tolerance is next to nothing
constexpr double kFurthest = 0x1p60;    // cubes from the origin

}  // namespace

Nearby::Nearby(std::span<const Point> points, std::span<const std::uint32_t> of, double tolerance)
    : points_(points), tolerance_(tolerance) {
  double largest = std::numeric_limits<double>::min();
  for (const std::uint32_t point : of)
    for (const double x : points_[point]) largest = std::max(largest, std::abs(x));
  edge_ = std::min(std::max(2 * tolerance, largest * kLeastCube), std::numeric_limits<double>::max());
  edge_ = std::max(edge_, std::numeric_limits<double>::min());
  for (const std::uint32_t point : of) cubes_.emplace_back(key_of(cube_of(points_[point], 0)), point);
  std::sort(cubes_.begin(), cubes_.end());
}

std::vector<std::uint32_t> Nearby::find(const Point& place) const {
  std::vector<std::uint32_t> found;
  const Cube low = cube_of(place, -tolerance_), high = cube_of(place, tolerance_);
  Cube cube{};
  for (cube[0] = low[0]; cube[0] <= high[0]; ++cube[0])
    for (cube[1] = low[1]; cube[1] <= high[1]; ++cube[1])
      for (cube[2] = low[2]; cube[2] <= high[2]; ++cube[2]) {
        const std::uint64_t key = key_of(cube);
        for (auto each = std::lower_bound(cubes_.begin(), cubes_.end(), std::pair(key, std::uint32_t{0}));
             each != cubes_.end() && each->first == key; ++each)
          if (length(points_[each->second] - place) <= tolerance_) found.push_back(each->second);
      }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());  // two cubes may have one key
  return found;
}

Nearby::Cube Nearby::cube_of(const Point& place, double shift) const {
  Cube cube{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    cube[axis] =
        static_cast<std::int64_t>(std::clamp(std::floor((place[axis] + shift) / edge_), -kFurthest, kFurthest));
  return cube;
}

std::uint64_t Nearby::key_of(const Cube& cube) {
  std::uint64_t key = 0;
  for (const std::int64_t each : cube) key = (key ^ static_cast<std::uint64_t>(each)) * 0x9e37'79b9'7f4a'7c15 >> 1;
  return key;
}

Sets::Sets(std::size_t numbers) : into_(numbers) {
  std::iota(into_.begin(), into_.end(), 0U);
}

std::uint32_t Sets::operator()(std::uint32_t number) const {
  while (into_[number] != number) number = into_[number] = into_[into_[number]];
  return number;
}

void Sets::merge(std::uint32_t a, std::uint32_t b) {
  a = (*this)(a);
  b = (*this)(b);
  into_[std::max(a, b)] = std::min(a, b);
}

}  // namespace forebay::mesh
