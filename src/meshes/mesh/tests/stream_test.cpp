#include "meshes/mesh/stream.h"

#include <gtest/gtest.h>

#include "meshes/mesh/tests/meshes.h"

namespace forebay::mesh::test {
namespace {

std::vector<std::vector<std::uint32_t>> shares(const Mesh& mesh, std::uint32_t parts) {
  std::vector<std::vector<std::uint32_t>> all(parts);
  for (std::uint32_t cell = 0; cell < mesh.cells(); ++cell) all[cell * 31 % parts].push_back(cell);
  return all;
}

// The whole mesh, against which what streams bring is held. Everything must come exactly once.
class Expected {
 public:
  explicit Expected(const Part& part) : part_(part) {
    first_corners(part.cells, cell_corner_);
    first_corners(part.faces, face_corner_);
    points_.resize(part.points.size());
    cells_.resize(part.cells.numbers.size());
    faces_.resize(part.faces.numbers.size());
  }
  void look_at(const PointPiece& piece) {
    for (std::size_t i = 0; i < piece.points.size(); ++i) {
      EXPECT_FALSE(points_.at(piece.first + i)) << "point " << piece.first + i << " came before";
      points_[piece.first + i] = true;
      EXPECT_EQ(piece.points[i], part_.points[piece.first + i]);
    }
  }
  void look_at_cells(const ElementPiece& piece) {
    EXPECT_TRUE(piece.sides.empty());
    look_at(piece, part_.cells, cell_corner_, cells_);
  }
  void look_at_faces(const ElementPiece& piece) {
    look_at(piece, part_.faces, face_corner_, faces_);
    for (std::size_t i = 0; i < piece.sides.size(); ++i) {
      const std::uint32_t side = part_.sides[2 * piece.first + i];
      ASSERT_EQ(piece.sides[i], side == kNone ? kNoCell : side);
    }
  }
  bool complete() const {
    const auto all = [](const std::vector<bool>& seen) {
      return std::find(seen.begin(), seen.end(), false) == seen.end();
    };
    return all(points_) && all(cells_) && all(faces_);
  }

 private:
  static void first_corners(const Elements& elements, std::vector<std::size_t>& first) {
    std::size_t corner = 0;
    for (const Stretch& stretch : elements.stretches)
      for (std::uint64_t i = 0; i < stretch.count; ++i, corner += describe(stretch.shape).corners)
        first.push_back(corner);
    first.push_back(corner);
  }
  static void look_at(const ElementPiece& piece, const Elements& elements, const std::vector<std::size_t>& first_corner,
                      std::vector<bool>& seen) {
    const std::size_t width = describe(piece.shape).corners;
    for (std::size_t i = 0; i < piece.count(); ++i) {
      const std::uint64_t number = piece.first + i;
      EXPECT_FALSE(seen.at(number)) << "number " << number << " came before";
      seen[number] = true;
      ASSERT_EQ(first_corner[number + 1] - first_corner[number], width);
      for (std::size_t c = 0; c < width; ++c)
        ASSERT_EQ(piece.corners[i * width + c], elements.corners[first_corner[number] + c]) << "number " << number;
    }
  }

  const Part& part_;
  std::vector<std::size_t> cell_corner_, face_corner_;
  std::vector<bool> points_, cells_, faces_;
};

TEST(Stream, BringsThePartsOfTheWholeEachOnce) {
  for (const auto& [name, mesh, volume] : meshes()) {
    const Topology topology = need(number(mesh));
    for (const int levels : {1, 2, 4}) {
      const Refinement refinement = need(Refinement::make(mesh, topology, levels));
      const Part whole = need(make_part(refinement, all_cells(mesh)));
      for (const std::uint32_t parts : {1U, 3U}) {
        SCOPED_TRACE(name + ", " + std::to_string(levels) + " levels, " + std::to_string(parts) + " streams");
        Expected expected(whole);
        const auto done = [](auto look) { return [look](const auto& piece) { return look(piece), Status{}; }; };
        for (const auto& cells : shares(mesh, parts)) {
          EXPECT_TRUE(stream_points(refinement, cells, done([&](const auto& p) { expected.look_at(p); })));
          EXPECT_TRUE(stream_cells(refinement, cells, done([&](const auto& p) { expected.look_at_cells(p); })));
          EXPECT_TRUE(stream_faces(refinement, cells, done([&](const auto& p) { expected.look_at_faces(p); })));
        }
        EXPECT_TRUE(expected.complete());
      }
    }
  }
}

TEST(Stream, OfTheWholeMeshIsInTheOrderOfNumbers) {
  const Mesh mesh = mixed();
  const Topology topology = need(number(mesh));
  const Refinement refinement = need(Refinement::make(mesh, topology, 3));
  std::uint64_t points = 0, cells = 0, faces = 0;
  const auto follow = [](std::uint64_t& next) {
    return [&next](const ElementPiece& piece) {
      EXPECT_EQ(piece.first, next);
      next += piece.count();
      return Status{};
    };
  };
  EXPECT_TRUE(stream_points(refinement, all_cells(mesh), [&](const PointPiece& piece) {
    EXPECT_EQ(piece.first, points);
    points += piece.points.size();
    return Status{};
  }));
  EXPECT_TRUE(stream_cells(refinement, all_cells(mesh), follow(cells)));
  EXPECT_TRUE(stream_faces(refinement, all_cells(mesh), follow(faces)));
  EXPECT_EQ(points, refinement.counts().points);
  EXPECT_EQ(cells, refinement.counts().cells);
  EXPECT_EQ(faces, refinement.counts().faces);
}

TEST(Stream, AnErrorOfTheReceiverEndsIt) {
  const Mesh mesh = cavity(4, Shape::tetrahedron);
  const Topology topology = need(number(mesh));
  const Refinement refinement = need(Refinement::make(mesh, topology, 3));
  int calls = 0;
  const auto full = [&](const auto&) -> Status {
    ++calls;
    return error(Code::failed, "no space left");
  };
  EXPECT_EQ(stream_points(refinement, all_cells(mesh), full).error().what, "no space left");
  EXPECT_EQ(stream_cells(refinement, all_cells(mesh), full).error().what, "no space left");
  EXPECT_EQ(stream_faces(refinement, all_cells(mesh), full).error().what, "no space left");
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace forebay::mesh::test
