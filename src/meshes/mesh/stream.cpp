#include "meshes/mesh/stream.h"

#include <algorithm>
#include <vector>

namespace forebay::mesh {
namespace {

// Small enough that what is written here is still in the second-level cache when the receiver reads it.
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

class PointBuffer {
 public:
  explicit PointBuffer(const PointReceiver& receiver) : receiver_(receiver), points_(kBufferBytes / sizeof(Point)) {}

  // The points first, first + 1, ...; place(from, to) says where those from the `from`th on lie.
  template <class Place>
  Status add(std::uint64_t first, std::size_t count, Place place) {
    for (std::size_t done = 0; done < count;) {
      if (used_ == points_.size() || first_ + used_ != first + done)
        if (auto sent = flush(first + done); !sent) return sent;
      const std::size_t now = std::min(count - done, points_.size() - used_);
      place(done, std::span(points_).subspan(used_, now));
      used_ += now;
      done += now;
    }
    return {};
  }
  Status flush(std::uint64_t next = 0) {
    const PointPiece piece{first_, std::span(points_).first(used_)};
    first_ = next;
    used_ = 0;
    return piece.points.empty() ? Status{} : receiver_(piece);
  }

 private:
  const PointReceiver& receiver_;
  std::vector<Point> points_;
  std::uint64_t first_ = 0;
  std::size_t used_ = 0;
};

class ElementBuffer {
 public:
  enum class Kind { cells, faces };
  ElementBuffer(const ElementReceiver& receiver, Kind kind)
      : receiver_(receiver), faces_(kind == Kind::faces), room_(kBufferBytes / sizeof(std::uint64_t)) {
    corners_.resize(room_);
    if (faces_) sides_.resize(room_);
  }

  // The elements of a block, with the numbers that its points have; sides(from, count, to) fills in the cells at some
  // of them.
  template <class Sides>
  Status add(std::uint64_t first, const Block& block, const std::uint64_t* numbers, Sides sides) {
    const std::size_t width = describe(block.shape).corners;
    const std::size_t count = block.count();
    for (std::size_t done = 0; done < count;) {
      if ((used_ + 1) * width > room_ || first_ + used_ != first + done || shape_ != block.shape)
        if (auto sent = flush(first + done, block.shape); !sent) return sent;
      const std::size_t now = std::min(count - done, room_ / width - used_);
      const std::uint32_t* from = block.corners.data() + done * width;
      std::uint64_t* to = corners_.data() + used_ * width;
      for (std::size_t i = 0; i < now * width; ++i) to[i] = numbers[from[i]];
      if (faces_) sides(done, now, sides_.data() + 2 * used_);
      used_ += now;
      done += now;
    }
    return {};
  }
  Status flush(std::uint64_t next = 0, Shape shape = Shape::triangle) {
    const ElementPiece piece{first_, shape_, std::span(corners_).first(used_ * describe(shape_).corners),
                             std::span(sides_).first(faces_ ? 2 * used_ : 0)};
    first_ = next;
    shape_ = shape;
    used_ = 0;
    return piece.corners.empty() ? Status{} : receiver_(piece);
  }

 private:
  const ElementReceiver& receiver_;
  bool faces_;
  std::size_t room_;
  std::vector<std::uint64_t> corners_, sides_;
  std::uint64_t first_ = 0;
  Shape shape_ = Shape::triangle;
  std::size_t used_ = 0;
};

// Numbers of a pattern's points in one coarse cell or face after the other.
class Numbers {
 public:
  explicit Numbers(const Refinement& refinement) : refinement_(refinement), topology_(refinement.topology()) {}

  const std::uint64_t* of_cell(std::uint32_t cell) {
    const Shape shape = refinement_.mesh().shapes[cell];
    const Topology::Cell& links = topology_.cells[cell];
    auto firsts = outline(shape, refinement_.mesh().cell(cell), links.outline);
    for (std::size_t f = 0; f < describe(shape).faces.size(); ++f)
      firsts.faces[f] = refinement_.points_of_face(links.faces[f]);
    firsts.inside = refinement_.points_of_cell(cell);
    numbers_.resize(refinement_.pattern(shape).points);
    number_cell(refinement_, cell, firsts, numbers_.data());
    return numbers_.data();
  }
  const std::uint64_t* of_face(std::uint32_t face) {
    const Topology::Face& about = topology_.faces[face];
    auto firsts = outline(about.shape, about.corners, about.outline);
    firsts.inside = refinement_.points_of_face(face);
    numbers_.resize(refinement_.pattern(about.shape).points);
    number_face(refinement_, face, firsts, numbers_.data());
    return numbers_.data();
  }

 private:
  Firsts<std::uint64_t> outline(Shape shape, std::span<const std::uint32_t> corners,
                                const Topology::Outline& around) const {
    Firsts<std::uint64_t> firsts{};
    std::copy_n(corners.begin(), describe(shape).corners, firsts.corners.begin());
    for (std::size_t e = 0; e < describe(shape).edges.size(); ++e)
      firsts.edges[e] = refinement_.points_of_edge(around.edges[e]);
    return firsts;
  }

  const Refinement& refinement_;
  const Topology& topology_;
  std::vector<std::uint64_t> numbers_;
};

// The coarse entities that these cells own, ascending. for_each(cell, visit) visits the entities of a cell.
template <class ForEach>
std::vector<std::uint32_t> owned(std::span<const std::uint32_t> cells, ForEach for_each) {
  std::vector<std::uint32_t> list;
  for (const std::uint32_t cell : cells)
    for_each(cell, [&](std::uint32_t entity, std::uint32_t owner) {
      if (owner == cell) list.push_back(entity);
    });
  std::sort(list.begin(), list.end());
  return list;
}

std::vector<std::uint32_t> owned_faces(const Refinement& refinement, std::span<const std::uint32_t> cells) {
  const Topology& topology = refinement.topology();
  return owned(cells, [&](std::uint32_t cell, auto visit) {
    for (std::size_t f = 0; f < describe(refinement.mesh().shapes[cell]).faces.size(); ++f) {
      const std::uint32_t face = topology.cells[cell].faces[f];
      visit(face, topology.faces[face].cells[0]);
    }
  });
}

}  // namespace

std::vector<std::uint64_t> sides_of(const Refinement& refinement, std::uint32_t number) {
  const Topology::Face& face = refinement.topology().faces[number];
  std::vector<std::uint64_t> sides(2 * refinement.faces_on_face(), kNoCell);
  for (unsigned side = 0; side < 2 && face.cells[side] != kNone; ++side) {
    const std::uint32_t cell = face.cells[side];
    const std::uint8_t place = face.places[side];
    const auto& cells = refinement.pattern(refinement.mesh().shapes[cell]).cells_at[place];
    const auto& turn = refinement.turns(face.shape).cells[refinement.topology().cells[cell].turns[place]];
    for (std::size_t i = 0; i < cells.size(); ++i)
      sides[2 * turn[i] + side] = refinement.cells_of_cell(cell) + cells[i];
  }
  return sides;
}

Status stream_points(const Refinement& refinement, std::span<const std::uint32_t> coarse_cells,
                     const PointReceiver& receiver) {
  const Mesh& mesh = refinement.mesh();
  const Topology& topology = refinement.topology();
  PointBuffer buffer(receiver);
  const auto points = owned(coarse_cells, [&](std::uint32_t cell, auto visit) {
    for (const std::uint32_t point : mesh.cell(cell)) visit(point, topology.point_owner[point]);
  });
  const auto edges = owned(coarse_cells, [&](std::uint32_t cell, auto visit) {
    for (std::size_t e = 0; e < describe(mesh.shapes[cell]).edges.size(); ++e) {
      const std::uint32_t edge = topology.cells[cell].outline.edges[e];
      visit(edge, topology.edge_owner[edge]);
    }
  });
  Status sent;
  for (const std::uint32_t point : points) {
    sent = buffer.add(point, 1, [&](std::size_t, std::span<Point> to) { to[0] = mesh.points[point]; });
    if (!sent) return sent;
  }
  for (const std::uint32_t edge : edges) {
    sent = buffer.add(refinement.points_of_edge(edge), refinement.points_in_edge(),
                      [&](std::size_t from, std::span<Point> to) { refinement.place_in_edge(edge, from, to); });
    if (!sent) return sent;
  }
  for (const std::uint32_t face : owned_faces(refinement, coarse_cells)) {
    sent = buffer.add(refinement.points_of_face(face), refinement.pattern(topology.faces[face].shape).inner_points(),
                      [&](std::size_t from, std::span<Point> to) { refinement.place_in_face(face, from, to); });
    if (!sent) return sent;
  }
  for (const std::uint32_t cell : coarse_cells) {
    sent = buffer.add(refinement.points_of_cell(cell), refinement.pattern(mesh.shapes[cell]).inner_points(),
                      [&](std::size_t from, std::span<Point> to) { refinement.place_in_cell(cell, from, to); });
    if (!sent) return sent;
  }
  return buffer.flush();
}

Status stream_cells(const Refinement& refinement, std::span<const std::uint32_t> coarse_cells,
                    const ElementReceiver& receiver) {
  ElementBuffer buffer(receiver, ElementBuffer::Kind::cells);
  Numbers numbers(refinement);
  for (const std::uint32_t cell : coarse_cells) {
    const std::uint64_t* of_cell = numbers.of_cell(cell);
    std::uint64_t first = refinement.cells_of_cell(cell);
    for (const Block& block : refinement.pattern(refinement.mesh().shapes[cell]).cells) {
      const Status sent = buffer.add(first, block, of_cell, [](std::size_t, std::size_t, std::uint64_t*) {});
      if (!sent) return sent;
      first += block.count();
    }
  }
  return buffer.flush();
}

Status stream_faces(const Refinement& refinement, std::span<const std::uint32_t> coarse_cells,
                    const ElementReceiver& receiver) {
  ElementBuffer buffer(receiver, ElementBuffer::Kind::faces);
  Numbers numbers(refinement);
  for (const std::uint32_t face : owned_faces(refinement, coarse_cells)) {
    const auto sides = sides_of(refinement, face);
    const Block& block = refinement.pattern(refinement.topology().faces[face].shape).cells.front();
    const Status sent = buffer.add(refinement.faces_of_face(face), block, numbers.of_face(face),
                                   [&](std::size_t from, std::size_t count, std::uint64_t* to) {
                                     std::copy_n(sides.data() + 2 * from, 2 * count, to);
                                   });
    if (!sent) return sent;
  }
  for (const std::uint32_t cell : coarse_cells) {
    const std::uint64_t* of_cell = numbers.of_cell(cell);
    const std::uint64_t first_cell = refinement.cells_of_cell(cell);
    std::uint64_t first = refinement.faces_of_cell(cell);
    for (const Block& block : refinement.pattern(refinement.mesh().shapes[cell]).inner_faces) {
      const Status sent =
          buffer.add(first, block, of_cell, [&](std::size_t from, std::size_t count, std::uint64_t* to) {
            for (std::size_t i = 0; i < 2 * count; ++i) to[i] = first_cell + block.sides[2 * from + i];
          });
      if (!sent) return sent;
      first += block.count();
    }
  }
  return buffer.flush();
}

}  // namespace forebay::mesh
