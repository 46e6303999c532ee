#include "meshes/mesh/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace forebay::mesh {
namespace {

using Index = std::uint32_t;

// The entities of the coarse mesh that the part holds, and the part's first index of the points that lie on each.
struct Content {
  std::vector<Index> points, edges, faces, cells;  // the coarse entities, ascending
  std::vector<Index> point_at, points_of_edge, points_of_face, faces_of_face,
      cells_of_cell;  // by coarse number; or kNone
  std::uint64_t point_count = 0, face_count = 0, cell_count = 0;
};

// Gives each coarse entity of the list its indices: as many as count() says, one entity behind the other.
template <class Count>
void assign(std::span<const Index> list, std::vector<Index>& first, std::uint64_t& total, Count count) {
  for (const Index entity : list) {
    first[entity] = static_cast<Index>(total);
    total += count(entity);
  }
}

std::vector<Index> listed(const std::vector<bool>& marks) {
  std::vector<Index> list;
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (marks[i]) list.push_back(static_cast<Index>(i));
  return list;
}

Content content_of(const Refinement& refinement, std::span<const Index> coarse_cells) {
  const Mesh& mesh = refinement.mesh();
  const Topology& topology = refinement.topology();
  std::vector<bool> points(mesh.points.size()), edges(topology.edges.size()), faces(topology.faces.size());
  for (const Index cell : coarse_cells) {
    const Description& about = describe(mesh.shapes[cell]);
    for (const Index point : mesh.cell(cell)) points[point] = true;
    for (std::size_t e = 0; e < about.edges.size(); ++e) edges[topology.cells[cell].outline.edges[e]] = true;
    for (std::size_t f = 0; f < about.faces.size(); ++f) faces[topology.cells[cell].faces[f]] = true;
  }
  Content content{.points = listed(points),
                  .edges = listed(edges),
                  .faces = listed(faces),
                  .cells = {coarse_cells.begin(), coarse_cells.end()},
                  .point_at = std::vector<Index>(points.size(), kNone),
                  .points_of_edge = std::vector<Index>(edges.size(), kNone),
                  .points_of_face = std::vector<Index>(faces.size(), kNone),
                  .faces_of_face = std::vector<Index>(faces.size(), kNone),
                  .cells_of_cell = std::vector<Index>(mesh.cells(), kNone)};
  const auto pattern_of = [&](Index cell) -> const Pattern& { return refinement.pattern(mesh.shapes[cell]); };
  assign(content.points, content.point_at, content.point_count, [](Index) { return 1; });
  assign(content.edges, content.points_of_edge, content.point_count,
         [&](Index) { return refinement.points_in_edge(); });
  assign(content.faces, content.points_of_face, content.point_count,
         [&](Index face) { return refinement.pattern(topology.faces[face].shape).inner_points(); });
  assign(content.faces, content.faces_of_face, content.face_count, [&](Index) { return refinement.faces_on_face(); });
  assign(content.cells, content.cells_of_cell, content.cell_count,
         [&](Index cell) { return pattern_of(cell).cell_count; });
  for (const Index cell : coarse_cells) {
    content.point_count += pattern_of(cell).inner_points();
    content.face_count += pattern_of(cell).inner_face_count;
  }
  return content;
}

void append(std::vector<Stretch>& stretches, Shape shape, std::uint64_t count) {
  if (stretches.empty() || stretches.back().shape != shape) stretches.push_back({shape, 0});
  stretches.back().count += count;
}

std::uint64_t corners_in(const std::vector<Stretch>& stretches) {
  std::uint64_t sum = 0;
  for (const Stretch& stretch : stretches) sum += stretch.count * describe(stretch.shape).corners;
  return sum;
}

// Writes what make(0), make(1), ... return, and moves on behind it.
template <class Number, class Make>
void write(Number*& to, std::size_t count, Make make) {
  for (std::size_t i = 0; i < count; ++i) *to++ = make(i);
}

class Maker {
 public:
  Maker(const Refinement& refinement, Content content)
      : refinement_(refinement), topology_(refinement.topology()), content_(std::move(content)) {}

  Result<Part> make() {
    if (std::max({content_.point_count, content_.face_count, content_.cell_count}) >= kNone)
      return error(
          Code::bad_input,
          fmt::format("a part of {}, {} and {} is too large for 32-bit indices", plural(content_.point_count, "point"),
                      plural(content_.face_count, "face"), plural(content_.cell_count, "cell")),
          {}, "use more parts, or stream");
    if (auto room = make_room(); !room) return forward(room);
    make_points();
    for (const Index face : content_.faces) make_faces_on(face);
    for (const Index cell : content_.cells) make_cells_in(cell);
    part_.coarse_cells = std::move(content_.cells);
    part_.coarse_faces = std::move(content_.faces);
    return std::move(part_);
  }

 private:
  Shape shape_of(Index cell) const { return refinement_.mesh().shapes[cell]; }

  Status make_room() {
    for (const Index face : content_.faces)
      append(part_.faces.stretches, topology_.faces[face].shape, refinement_.faces_on_face());
    for (const Index cell : content_.cells) {
      const Pattern& pattern = refinement_.pattern(shape_of(cell));
      for (const Block& block : pattern.cells) append(part_.cells.stretches, block.shape, block.count());
      for (const Block& block : pattern.inner_faces) append(part_.faces.stretches, block.shape, block.count());
    }
    Status room;
    const auto take = [&room](auto& array, std::uint64_t count) {
      if (!room) return;
      auto made = std::remove_reference_t<decltype(array)>::make(count);
      if (made)
        array = std::move(*made);
      else
        room = forward(made);
    };
    take(part_.points, content_.point_count);
    take(part_.point_numbers, content_.point_count);
    take(part_.cells.corners, corners_in(part_.cells.stretches));
    take(part_.cells.numbers, content_.cell_count);
    take(part_.faces.corners, corners_in(part_.faces.stretches));
    take(part_.faces.numbers, content_.face_count);
    take(part_.sides, 2 * content_.face_count);
    face_corners_ = part_.faces.corners.data();
    face_numbers_ = part_.faces.numbers.data();
    sides_ = part_.sides.data();
    cell_corners_ = part_.cells.corners.data();
    cell_numbers_ = part_.cells.numbers.data();
    return room;
  }

  void make_points() {
    const Mesh& mesh = refinement_.mesh();
    std::size_t at = 0;
    for (const Index point : content_.points) {
      part_.points[at] = mesh.points[point];
      part_.point_numbers[at++] = point;
    }
    const auto next = [&](std::uint64_t first, std::size_t count) {
      std::iota(&part_.point_numbers[at], &part_.point_numbers[at] + count, first);
      at += count;
      return std::span(&part_.points[at - count], count);
    };
    for (const Index edge : content_.edges)
      refinement_.place_in_edge(edge, 0, next(refinement_.points_of_edge(edge), refinement_.points_in_edge()));
    for (const Index face : content_.faces)
      refinement_.place_in_face(
          face, 0,
          next(refinement_.points_of_face(face), refinement_.pattern(topology_.faces[face].shape).inner_points()));
    inner_points_ = static_cast<Index>(at);
    for (const Index cell : content_.cells)
      refinement_.place_in_cell(
          cell, 0, next(refinement_.points_of_cell(cell), refinement_.pattern(shape_of(cell)).inner_points()));
  }

  Firsts<Index> firsts(std::span<const Index> corners, const Topology::Outline& outline, std::size_t edges,
                       Index inside) const {
    Firsts<Index> firsts{};
    for (std::size_t i = 0; i < corners.size(); ++i) firsts.corners[i] = content_.point_at[corners[i]];
    for (std::size_t i = 0; i < edges; ++i) firsts.edges[i] = content_.points_of_edge[outline.edges[i]];
    firsts.inside = inside;
    return firsts;
  }

  void make_faces_on(Index face) {
    const Topology::Face& about = topology_.faces[face];
    const Pattern& pattern = refinement_.pattern(about.shape);
    const Description& shape = describe(about.shape);
    numbers_.resize(pattern.points);
    number_face(refinement_, face,
                firsts(std::span(about.corners).first(shape.corners), about.outline, shape.edges.size(),
                       content_.points_of_face[face]),
                numbers_.data());
    for (const Block& block : pattern.cells) write_corners(face_corners_, block);
    write_numbers(face_numbers_, pattern.cell_count, refinement_.faces_of_face(face));
    for (unsigned side = 0; side < 2; ++side) make_sides_on(about, side);
    sides_ += 2 * pattern.cell_count;
  }

  void make_sides_on(const Topology::Face& face, unsigned side) {
    const Index cell = face.cells[side];
    const Index first = cell == kNone ? kNone : content_.cells_of_cell[cell];
    if (first == kNone) {
      for (Index i = 0; i < refinement_.faces_on_face(); ++i) sides_[2 * i + side] = kNone;
      return;
    }
    const std::vector<Index>& cells = refinement_.pattern(shape_of(cell)).cells_at[face.places[side]];
    const std::vector<Index>& turn =
        refinement_.turns(face.shape).cells[topology_.cells[cell].turns[face.places[side]]];
    for (std::size_t i = 0; i < cells.size(); ++i) sides_[2 * turn[i] + side] = first + cells[i];
  }

  void make_cells_in(Index cell) {
    const Pattern& pattern = refinement_.pattern(shape_of(cell));
    const Topology::Cell& links = topology_.cells[cell];
    const Description& shape = describe(pattern.shape);
    Firsts<Index> first = firsts(refinement_.mesh().cell(cell), links.outline, shape.edges.size(), inner_points_);
    for (std::size_t f = 0; f < shape.faces.size(); ++f) first.faces[f] = content_.points_of_face[links.faces[f]];
    inner_points_ += pattern.inner_points();
    numbers_.resize(pattern.points);
    number_cell(refinement_, cell, first, numbers_.data());

    for (const Block& block : pattern.cells) write_corners(cell_corners_, block);
    write_numbers(cell_numbers_, pattern.cell_count, refinement_.cells_of_cell(cell));
    for (const Block& block : pattern.inner_faces) {
      write_corners(face_corners_, block);
      write(sides_, block.sides.size(),
            [sides = block.sides.data(), at = content_.cells_of_cell[cell]](std::size_t i) { return at + sides[i]; });
    }
    write_numbers(face_numbers_, pattern.inner_face_count, refinement_.faces_of_cell(cell));
  }

  void write_corners(Index*& to, const Block& block) const {
    write(to, block.corners.size(),
          [numbers = numbers_.data(), from = block.corners.data()](std::size_t i) { return numbers[from[i]]; });
  }
  static void write_numbers(std::uint64_t*& to, std::size_t count, std::uint64_t first) {
    write(to, count, [first](std::size_t i) { return first + i; });
  }

  const Refinement& refinement_;
  const Topology& topology_;
  Content content_;
  Part part_;
  std::vector<Index> numbers_;  // of a pattern's points in the part
  Index inner_points_ = 0;      // of the next coarse cell
  // Behind what the part has already.
  Index *face_corners_ = nullptr, *cell_corners_ = nullptr, *sides_ = nullptr;
  std::uint64_t *face_numbers_ = nullptr, *cell_numbers_ = nullptr;
};

}  // namespace

Result<Part> make_part(const Refinement& refinement, std::span<const std::uint32_t> coarse_cells) {
  return Maker(refinement, content_of(refinement, coarse_cells)).make();
}

}  // namespace forebay::mesh
