// VTK's numbers of shapes (vtkCellType.h) that a list of vertices describes: up to the second order, without polyhedra.
#pragma once

#include <cstdint>
#include <limits>

namespace forebay::blocks {

struct CellType {
  static constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();

  const char* name = nullptr;
  std::uint64_t least = 0;  // vertices
  std::uint64_t most = least;
};

// Null: there is none, or it needs more than a list of vertices.
const CellType* cell_type(std::uint8_t number);

}  // namespace forebay::blocks
