#include "arrays/blocks/cell_types.h"

#include <array>

namespace forebay::blocks {
namespace {

// The types, by their numbers.
constexpr std::array kCellTypes = {
    CellType{},
    CellType{"vertex", 1},
    CellType{"set of vertices", 1, CellType::kAnyNumber},
    CellType{"line", 2},
    CellType{"chain of lines", 2, CellType::kAnyNumber},
    CellType{"triangle", 3},
    CellType{"strip of triangles", 3, CellType::kAnyNumber},
    CellType{"polygon", 3, CellType::kAnyNumber},
    CellType{"pixel", 4},
    CellType{"quadrilateral", 4},
    CellType{"tetrahedron", 4},  // 10
    CellType{"voxel", 8},
    CellType{"hexahedron", 8},
    CellType{"prism", 6},
    CellType{"pyramid", 5},
    CellType{"pentagonal prism", 10},
    CellType{"hexagonal prism", 12},
    CellType{},
    CellType{},
    CellType{},
    CellType{},  // 20
    CellType{"quadratic line", 3},
    CellType{"quadratic triangle", 6},
    CellType{"quadratic quadrilateral", 8},
    CellType{"quadratic tetrahedron", 10},
    CellType{"quadratic hexahedron", 20},
    CellType{"quadratic prism", 15},
    CellType{"quadratic pyramid", 13},
    CellType{"biquadratic quadrilateral", 9},
    CellType{"triquadratic hexahedron", 27},
    CellType{"quadratic-linear quadrilateral", 6},  // 30
    CellType{"quadratic-linear prism", 12},
    CellType{"biquadratic-quadratic prism", 18},
    CellType{"biquadratic-quadratic hexahedron", 24},
    CellType{"biquadratic triangle", 7},
    CellType{"cubic line", 4},
    CellType{},  // a quadratic polygon
    CellType{"triquadratic pyramid", 19},
};

}  // namespace

const CellType* cell_type(std::uint8_t number) {
  const bool known = number < kCellTypes.size() && kCellTypes[number].name != nullptr;
  return known ? &kCellTypes[number] : nullptr;
}

}  // namespace forebay::blocks
