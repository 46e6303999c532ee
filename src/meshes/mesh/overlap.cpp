#include "meshes/mesh/overlap.h"

#include <algorithm>
#include <numeric>

#include "meshes/mesh/vector.h"

namespace forebay::mesh {
namespace {

constexpr double kOnPlane = 1e-5;     // of the smaller face: what lies no further from the plane lies on it
constexpr double kLeastShare = 1e-3;  // of the smaller face
constexpr double kAsLarge = 1e-9;     // of an area: two that differ by less are rounded differently
constexpr std::size_t kMost = 1000;
constexpr std::uint32_t kLeaf = 8;

struct Bounds {
  Point low, high;
  void add(const Bounds& other) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], other.low[axis]);
      high[axis] = std::max(high[axis], other.high[axis]);
    }
  }
  bool meets(const Bounds& other) const {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (low[axis] > other.high[axis] || other.low[axis] > high[axis]) return false;
    return true;
  }
};

struct Plate {
  Polygon polygon;
  Bounds box;
  Point normal;  // twice the area long
  double size;   // from the first corner to the furthest
};

Plate plate_of(const Polygon& polygon) {
  Plate plate{polygon, {polygon.corners[0], polygon.corners[0]}, {}, 0};
  const auto& p = polygon.corners;
  plate.normal = polygon.count == 3 ? cross(p[1] - p[0], p[2] - p[0]) : cross(p[2] - p[0], p[3] - p[1]);
  for (unsigned i = 0; i < polygon.count; ++i) {
    plate.box.add({p[i], p[i]});
    plate.size = std::max(plate.size, length(p[i] - p[0]));
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    plate.box.low[axis] -= kOnPlane * plate.size;
    plate.box.high[axis] += kOnPlane * plate.size;
  }
  return plate;
}

using Flat = std::array<double, 2>;

double area_of(std::span<const Flat> corners) {
  double sum = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Flat &a = corners[i], &b = corners[(i + 1) % corners.size()];
    sum += a[0] * b[1] - a[1] * b[0];
  }
  return sum / 2;
}

// Along the largest axis of a normal, so that areas stay areas, and counterclockwise.
std::vector<Flat> flat(const Polygon& polygon, const Point& from, std::size_t dropped) {
  std::vector<Flat> corners;
  for (unsigned i = 0; i < polygon.count; ++i) {
    const Point place = polygon.corners[i] - from;
    corners.push_back({place[(dropped + 1) % 3], place[(dropped + 2) % 3]});
  }
  if (area_of(corners) < 0) std::reverse(corners.begin(), corners.end());
  return corners;
}

// The part of a polygon that lies to the left of a line.
std::vector<Flat> cut(const std::vector<Flat>& corners, const Flat& from, const Flat& to) {
  const auto side = [&](const Flat& p) {
    return (to[0] - from[0]) * (p[1] - from[1]) - (to[1] - from[1]) * (p[0] - from[0]);
  };
  std::vector<Flat> left;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Flat &a = corners[i], &b = corners[(i + 1) % corners.size()];
    const double here = side(a), there = side(b);
    if (here >= 0) left.push_back(a);
    if ((here < 0) != (there < 0)) {
      const double share = here / (here - there);
      left.push_back({a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])});
    }
  }
  return left;
}

bool overlap(const Plate& one, const Plate& other) {
  if (!one.box.meets(other.box) || dot(one.normal, other.normal) >= 0) return false;
  const bool swapped = length(one.normal) < length(other.normal);
  const Plate &large = swapped ? other : one, &small = swapped ? one : other;
  const Point& from = large.polygon.corners[0];
  const double far = kOnPlane * small.size * length(large.normal);
  for (unsigned i = 0; i < small.polygon.count; ++i)
    if (std::abs(dot(small.polygon.corners[i] - from, large.normal)) > far) return false;
  std::size_t axis = 0;
  for (std::size_t each = 1; each < 3; ++each)
    if (std::abs(large.normal[each]) > std::abs(large.normal[axis])) axis = each;
  const std::vector<Flat> window = flat(large.polygon, from, axis);
  std::vector<Flat> rest = flat(small.polygon, from, axis);
  const double whole = area_of(rest);
  for (std::size_t i = 0; i < window.size() && !rest.empty(); ++i)
    rest = cut(rest, window[i], window[(i + 1) % window.size()]);
  return area_of(rest) > kLeastShare * whole;
}

// Faces in a tree of boxes: those of a node stand behind each other, and each half of them is a node again.
class Tree {
 public:
  explicit Tree(std::span<const Plate> plates) : plates_(plates), order_(plates.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    if (!order_.empty()) build(0, static_cast<std::uint32_t>(order_.size()));
  }
  template <class Act>
  void each_near(std::uint32_t plate, Act act) const {
    std::vector<std::uint32_t> waiting = {0};
    while (!waiting.empty()) {
      const Node node = nodes_[waiting.back()];
      const auto number = waiting.back();
      waiting.pop_back();
      if (!node.box.meets(plates_[plate].box)) continue;
      if (node.right != 0) {
        waiting.insert(waiting.end(), {number + 1, node.right});
        continue;
      }
      for (std::uint32_t i = node.first; i < node.end; ++i) act(order_[i]);
    }
  }

 private:
  struct Node {
    Bounds box;
    std::uint32_t first, end, right;  // the left half is the next node; 0: a leaf
  };

  void build(std::uint32_t first, std::uint32_t end) {
    const std::size_t number = nodes_.size();
    Bounds box = plates_[order_[first]].box;
    for (std::uint32_t i = first; i < end; ++i) box.add(plates_[order_[i]].box);
    nodes_.push_back({box, first, end, 0});
    if (end - first <= kLeaf) return;
    const Point extent = box.high - box.low;
    const auto axis = static_cast<std::size_t>(std::max_element(extent.begin(), extent.end()) - extent.begin());
    const std::uint32_t middle = first + (end - first) / 2;
    std::nth_element(order_.begin() + first, order_.begin() + middle, order_.begin() + end,
                     [&](std::uint32_t a, std::uint32_t b) {
                       return plates_[a].box.low[axis] + plates_[a].box.high[axis] <
                              plates_[b].box.low[axis] + plates_[b].box.high[axis];
                     });
    build(first, middle);
    nodes_[number].right = static_cast<std::uint32_t>(nodes_.size());
    build(middle, end);
  }

  std::span<const Plate> plates_;
  std::vector<std::uint32_t> order_;
  std::vector<Node> nodes_;
};

}  // namespace

Overlaps overlapping_faces(std::span<const Polygon> faces) {
  std::vector<Plate> plates;
  plates.reserve(faces.size());
  for (const Polygon& face : faces) plates.push_back(plate_of(face));
  const Tree tree(plates);
  Overlaps found;
  std::vector<bool> is_found(plates.size());
  for (std::uint32_t face = 0; face < plates.size() && found.all; ++face)
    tree.each_near(face, [&](std::uint32_t other) {
      if (other <= face || !overlap(plates[face], plates[other])) return;
      const bool smaller = length(plates[face].normal) < (1 - kAsLarge) * length(plates[other].normal);
      const std::uint32_t wanted = smaller ? face : other;
      if (is_found[wanted]) return;
      found.all = found.faces.size() < kMost;
      if (!found.all) return;
      is_found[wanted] = true;
      found.faces.push_back(wanted);
    });
  std::sort(found.faces.begin(), found.faces.end());
  return found;
}

}  // namespace forebay::mesh
