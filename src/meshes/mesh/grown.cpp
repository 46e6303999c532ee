#include "meshes/mesh/grown.h"

namespace forebay::mesh {
namespace {

// Finds the point at each place of the lattice that the children's corners lie on.
class Lattice {
 public:
  using Place = std::array<std::uint32_t, 3>;
  Lattice(int dimensions, std::uint32_t edge)
      : edge_(edge + 1), points_(std::size_t{edge_} * edge_ * (dimensions == 3 ? edge_ : 1), 0) {}
  // 0: none yet; otherwise the point's number + 1.
  std::uint32_t& at(const Place& place) {
    return points_[(std::size_t{place[2]} * edge_ + place[1]) * edge_ + place[0]];
  }

 private:
  std::uint32_t edge_;
  std::vector<std::uint32_t> points_;
};

class Grower {
 public:
  Grower(Shape shape, int levels) : lattice_(describe(shape).faces.empty() ? 2 : 3, std::uint32_t{1} << levels) {
    const Description& about = describe(shape);
    GrownCell whole{shape, {}};
    for (std::uint32_t c = 0; c < about.corners; ++c) {
      Lattice::Place place{};
      for (int axis = 0; axis < 3; ++axis) place[axis] = static_cast<std::uint32_t>(about.reference[c][axis]) << levels;
      Weights weights{};
      weights[c] = 1;
      whole.corners[c] = point_at(place, weights);
    }
    grown_.cells = {whole};
    for (int level = 0; level < levels; ++level) refine();
  }
  Grown result() && { return std::move(grown_); }

 private:
  void refine() {
    std::vector<GrownCell> children;
    children.reserve(grown_.cells.size() * 10);
    for (const GrownCell& cell : grown_.cells) {
      for (const Child& rule : describe(cell.shape).children) {
        GrownCell child{rule.shape, {}};
        for (unsigned c = 0; c < describe(rule.shape).corners; ++c) child.corners[c] = mean(cell, rule.means[c]);
        children.push_back(child);
      }
    }
    grown_.cells = std::move(children);
  }

  std::uint32_t mean(const GrownCell& cell, unsigned corners) {
    Lattice::Place place{};
    Weights weights{};
    std::uint32_t count = 0;
    for (unsigned c = 0; c < kMostCorners; ++c) {
      if ((corners >> c & 1U) == 0) continue;
      const std::uint32_t point = cell.corners[c];
      for (int axis = 0; axis < 3; ++axis) place[axis] += places_[point][axis];
      for (unsigned i = 0; i < kMostCorners; ++i) weights[i] += grown_.points[point][i];
      ++count;
    }
    for (int axis = 0; axis < 3; ++axis) place[axis] /= count;
    for (double& weight : weights) weight /= count;
    return point_at(place, weights);
  }

  std::uint32_t point_at(const Lattice::Place& place, const Weights& weights) {
    std::uint32_t& point = lattice_.at(place);
    if (point == 0) {
      grown_.points.push_back(weights);
      places_.push_back(place);
      point = static_cast<std::uint32_t>(places_.size());
    }
    return point - 1;
  }

  Lattice lattice_;
  std::vector<Lattice::Place> places_;
  Grown grown_;
};

}  // namespace

Grown grow(Shape shape, int levels) {
  return Grower(shape, levels).result();
}

unsigned support(const Weights& weights) {
  unsigned corners = 0;
  for (unsigned c = 0; c < kMostCorners; ++c)
    if (weights[c] != 0) corners |= 1U << c;
  return corners;
}

std::pair<double, double> sort_key(Shape face, const std::array<double, kFaceCorners>& weights) {
  if (face == Shape::triangle) return {weights[2], weights[1]};
  return {weights[2] + weights[3], weights[1] + weights[2]};
}

}  // namespace forebay::mesh
