#include "meshes/mesh/pattern.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "meshes/mesh/grown.h"

namespace forebay::mesh {
namespace {

unsigned mask_of(const FaceOfShape& face) {
  unsigned mask = 0;
  for (unsigned i = 0; i < describe(face.shape).corners; ++i) mask |= 1U << face.corners[i];
  return mask;
}

std::array<double, kFaceCorners> on_face(const FaceOfShape& face, const Weights& weights) {
  std::array<double, kFaceCorners> on{};
  for (unsigned i = 0; i < describe(face.shape).corners; ++i) on[i] = weights[face.corners[i]];
  return on;
}

// The shape itself where it is a triangle or quadrilateral.
FaceOfShape itself(Shape shape) {
  return {shape, {0, 1, 2, 3}};
}

Weights sum_over(const Grown& grown, std::span<const std::uint32_t> corners) {
  Weights sum{};
  for (const std::uint32_t corner : corners)
    for (unsigned i = 0; i < kMostCorners; ++i) sum[i] += grown.points[corner][i];
  return sum;
}

// Points in the order of a pattern.
class Order {
 public:
  Order(const Grown& grown, Pattern& pattern) : grown_(grown) {
    for (std::uint32_t point = 0; point < grown.points.size(); ++point)
      points_[support(grown.points[point])].push_back(point);
    const Description& about = describe(pattern.shape);
    for (unsigned c = 0; c < about.corners; ++c) take(1U << c);
    for (const auto& edge : about.edges) {
      auto& inside = points_[1U << edge[0] | 1U << edge[1]];
      sort(inside, [&](const Weights& w) { return w[edge[1]]; });
      pattern.points_in_edge = static_cast<std::uint32_t>(inside.size());
      take(1U << edge[0] | 1U << edge[1]);
    }
    for (unsigned f = 0; f < about.faces.size(); ++f) {
      pattern.face_first[f] = taken();
      take_face(about.faces[f]);
    }
    pattern.face_first[about.faces.size()] = taken();
    if (about.faces.empty()) take_face(itself(pattern.shape));
    for (unsigned corners = 0; corners < points_.size(); ++corners) take(corners);  // what is left lies inside
    pattern.points = taken();
  }
  std::span<const std::uint32_t> points() const { return order_; }

 private:
  std::uint32_t taken() const { return static_cast<std::uint32_t>(order_.size()); }
  void take(unsigned corners) {
    order_.insert(order_.end(), points_[corners].begin(), points_[corners].end());
    points_[corners].clear();
  }
  void take_face(const FaceOfShape& face) {
    sort(points_[mask_of(face)], [&](const Weights& w) { return sort_key(face.shape, on_face(face, w)); });
    take(mask_of(face));
  }
  template <class Key>
  void sort(std::vector<std::uint32_t>& points, Key key) {
    std::sort(points.begin(), points.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(grown_.points[a]) < key(grown_.points[b]); });
  }

  const Grown& grown_;
  std::array<std::vector<std::uint32_t>, 1U << kMostCorners> points_;  // by support
  std::vector<std::uint32_t> order_;
};

void renumber(Grown& grown, std::span<const std::uint32_t> order) {
  std::vector<Weights> points(order.size());
  std::vector<std::uint32_t> number(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    points[i] = grown.points[order[i]];
    number[order[i]] = i;
  }
  grown.points = std::move(points);
  for (GrownCell& cell : grown.cells)
    for (unsigned c = 0; c < describe(cell.shape).corners; ++c) cell.corners[c] = number[cell.corners[c]];
}

// Cells of the pattern's own shape first; cells of a triangle or quadrilateral in the order of their middles, which is
// the same for all who share the face.
void sort_cells(Grown& grown, Shape shape) {
  if (!describe(shape).faces.empty()) {
    std::stable_partition(grown.cells.begin(), grown.cells.end(),
                          [&](const GrownCell& cell) { return cell.shape == shape; });
    return;
  }
  const auto key = [&](const GrownCell& cell) {
    return sort_key(shape,
                    on_face(itself(shape), sum_over(grown, std::span(cell.corners).first(describe(shape).corners))));
  };
  std::sort(grown.cells.begin(), grown.cells.end(),
            [&](const GrownCell& a, const GrownCell& b) { return key(a) < key(b); });
}

Block& block_of(std::vector<Block>& blocks, Shape shape) {
  if (blocks.empty() || blocks.back().shape != shape) blocks.push_back({shape, {}, {}});
  return blocks.back();
}

struct SmallFace {
  std::array<std::uint32_t, 3> key;  // the least of its corners, in order
  std::uint32_t cell;
  std::array<std::uint32_t, kFaceCorners> corners;  // seen from the cell
  Shape shape;
};

std::vector<SmallFace> all_faces(const Grown& grown) {
  constexpr auto nothing = std::numeric_limits<std::uint32_t>::max();  // the fourth corner of a triangle; sorts last
  std::vector<SmallFace> faces;
  faces.reserve(grown.cells.size() * kMostFaces);
  for (std::uint32_t cell = 0; cell < grown.cells.size(); ++cell) {
    for (const FaceOfShape& rule : describe(grown.cells[cell].shape).faces) {
      SmallFace face{{}, cell, {nothing, nothing, nothing, nothing}, rule.shape};
      const unsigned corners = describe(rule.shape).corners;
      for (unsigned i = 0; i < corners; ++i) face.corners[i] = grown.cells[cell].corners[rule.corners[i]];
      auto sorted = face.corners;
      std::sort(sorted.begin(), sorted.end());
      std::copy_n(sorted.begin(), 3, face.key.begin());
      faces.push_back(face);
    }
  }
  std::stable_sort(faces.begin(), faces.end(), [](const SmallFace& a, const SmallFace& b) { return a.key < b.key; });
  return faces;
}

void add_faces(const Grown& grown, Pattern& pattern) {
  const std::vector<SmallFace> faces = all_faces(grown);
  struct Inner {
    const SmallFace* face;
    std::uint32_t other;
  };
  std::vector<Inner> inner;
  std::array<std::vector<const SmallFace*>, kMostFaces> outer;
  const auto& large = describe(pattern.shape).faces;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (i + 1 < faces.size() && faces[i].key == faces[i + 1].key) {
      inner.push_back({&faces[i], faces[i + 1].cell});
      ++i;
      continue;
    }
    unsigned corners = 0;
    for (unsigned c = 0; c < describe(faces[i].shape).corners; ++c)
      corners |= support(grown.points[faces[i].corners[c]]);
    for (unsigned f = 0; f < large.size(); ++f)
      if ((corners & ~mask_of(large[f])) == 0) outer[f].push_back(&faces[i]);
  }
  std::sort(inner.begin(), inner.end(), [](const Inner& a, const Inner& b) {
    return std::tuple(a.face->shape, a.face->cell, a.other) < std::tuple(b.face->shape, b.face->cell, b.other);
  });
  for (const Inner& each : inner) {
    Block& block = block_of(pattern.inner_faces, each.face->shape);
    block.corners.insert(block.corners.end(), each.face->corners.begin(),
                         each.face->corners.begin() + describe(block.shape).corners);
    block.sides.insert(block.sides.end(), {each.face->cell, each.other});
  }
  pattern.inner_face_count = static_cast<std::uint32_t>(inner.size());
  for (unsigned f = 0; f < large.size(); ++f) {
    const auto key = [&](const SmallFace* face) {
      const auto corners = std::span(face->corners).first(describe(face->shape).corners);
      return sort_key(large[f].shape, on_face(large[f], sum_over(grown, corners)));
    };
    std::sort(outer[f].begin(), outer[f].end(),
              [&](const SmallFace* a, const SmallFace* b) { return key(a) < key(b); });
    for (const SmallFace* face : outer[f]) pattern.cells_at[f].push_back(face->cell);
  }
}

// number[i]: which is next behind those with lower keys.
template <class Key>
std::vector<std::uint32_t> ranks(std::size_t count, Key key) {
  std::vector<std::uint32_t> order(count), number(count);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  for (std::uint32_t i = 0; i < count; ++i) number[order[i]] = i;
  return number;
}

Grown grown_in_order(Pattern& pattern, int levels) {
  Grown grown = grow(pattern.shape, levels);
  const Order order(grown, pattern);
  renumber(grown, order.points());
  sort_cells(grown, pattern.shape);
  return grown;
}

}  // namespace

Pattern make_pattern(Shape shape, int levels) {
  Pattern pattern{.shape = shape};
  const Grown grown = grown_in_order(pattern, levels);
  const unsigned corners = describe(shape).corners;
  for (std::uint32_t point = pattern.inner_first(); point < pattern.points; ++point)
    pattern.weights.insert(pattern.weights.end(), grown.points[point].begin(), grown.points[point].begin() + corners);
  for (const GrownCell& cell : grown.cells) {
    Block& block = block_of(pattern.cells, cell.shape);
    block.corners.insert(block.corners.end(), cell.corners.begin(),
                         cell.corners.begin() + describe(cell.shape).corners);
  }
  pattern.cell_count = static_cast<std::uint32_t>(grown.cells.size());
  if (!describe(shape).faces.empty()) add_faces(grown, pattern);
  return pattern;
}

FaceTurns make_turns(const Pattern& face, int levels) {
  Pattern scratch{.shape = face.shape};
  const Grown grown = grown_in_order(scratch, levels);
  const unsigned corners = describe(face.shape).corners;
  const auto point_key = [&](const FaceOfShape& list, std::uint32_t point) {
    return sort_key(face.shape, on_face(list, grown.points[point]));
  };
  // Which point comes next, row by row.
  std::vector<std::uint32_t> rows(face.points);
  const auto row_of = ranks(face.points, [&](std::uint32_t i) { return point_key(itself(face.shape), i); });
  for (std::uint32_t point = 0; point < face.points; ++point) rows[row_of[point]] = point;
  FaceTurns turns;
  for (unsigned turn = 0; turn < 2 * corners; ++turn) {
    // The place of the cell's corner turned[i] in its own list is i in the face's.
    const FaceOfShape own{face.shape, turned(corners, turn)};
    for (const std::uint32_t row : ranks(face.points, [&](std::uint32_t i) { return point_key(own, i); }))
      turns.points[turn].push_back(rows[row]);
    for (std::uint32_t point = face.inner_first(); point < face.points; ++point)
      turns.inner_points[turn].push_back(turns.points[turn][point] - face.inner_first());
    turns.cells[turn] = ranks(grown.cells.size(), [&](std::uint32_t i) {
      return sort_key(face.shape, on_face(own, sum_over(grown, std::span(grown.cells[i].corners).first(corners))));
    });
  }
  return turns;
}

}  // namespace forebay::mesh
