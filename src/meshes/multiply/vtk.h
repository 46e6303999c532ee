// How VTK numbers shapes (vtkCellType.h). It counts their corners as we do: of prisms since its version 9.7, while
// older ones took them for mirror images, whose volume some filters give as negative.
#pragma once

#include <cstdint>

#include "meshes/mesh/shape.h"

namespace forebay::multiply {

constexpr std::uint8_t vtk_type(mesh::Shape shape) {
  switch (shape) {
    case mesh::Shape::triangle:
      return 5;
    case mesh::Shape::quadrilateral:
      return 9;
    case mesh::Shape::tetrahedron:
      return 10;
    case mesh::Shape::hexahedron:
      return 12;
    case mesh::Shape::prism:
      return 13;
    case mesh::Shape::pyramid:
      return 14;
  }
  return 0;
}

}  // namespace forebay::multiply
