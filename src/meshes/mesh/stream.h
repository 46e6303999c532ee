// A refined mesh that fits in no memory: made piece by piece, each handed on and forgotten.
//
// Each function makes what some coarse cells own, in the order of global numbers, in a buffer that is used again as
// soon as the receiver returns. A point, or a face between two coarse cells, belongs to the lowest coarse cell that has
// it; so when several callers share the coarse cells among them, each number is made once. An error of the receiver
// ends the stream and is returned.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "meshes/mesh/refinement.h"

namespace forebay::mesh {

constexpr std::uint64_t kNoCell = std::numeric_limits<std::uint64_t>::max();

// Valid until the receiver returns; `first` is the global number of the first.
struct PointPiece {
  std::uint64_t first;
  std::span<const Point> points;
};
// Elements of one shape.
struct ElementPiece {
  std::uint64_t first;
  Shape shape;
  std::span<const std::uint64_t> corners;  // global numbers of points
  std::span<const std::uint64_t> sides;    // of faces: the cells that the normal leaves and enters; kNoCell: none
  std::size_t count() const { return corners.size() / describe(shape).corners; }
};
using PointReceiver = std::function<Status(const PointPiece&)>;
using ElementReceiver = std::function<Status(const ElementPiece&)>;

// `coarse_cells`: ascending.
Status stream_points(const Refinement& refinement, std::span<const std::uint32_t> coarse_cells,
                     const PointReceiver& receiver);
Status stream_cells(const Refinement& refinement, std::span<const std::uint32_t> coarse_cells,
                    const ElementReceiver& receiver);
Status stream_faces(const Refinement& refinement, std::span<const std::uint32_t> coarse_cells,
                    const ElementReceiver& receiver);

// The cells on both sides of the small faces of one coarse face, in its order: as `sides` of a piece.
std::vector<std::uint64_t> sides_of(const Refinement& refinement, std::uint32_t coarse_face);

}  // namespace forebay::mesh
