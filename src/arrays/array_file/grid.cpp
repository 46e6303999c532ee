#include "arrays/array_file/grid.h"

#include <fmt/format.h>

namespace forebay::array_file {

namespace grid {

Description describe(std::uint64_t points, std::uint64_t cells, std::uint64_t corners) {
  Description description;
  description.form = Form::grid;
  description.locations = {{kPoints, points}, {kCells, cells}, {kCorners, corners}};
  description.arrays = {{kPlaces, kPoints, Type::float64, 3, points},
                        {kConnectivity, kCorners, Type::int64, 1, corners},
                        {kEnds, kCells, Type::int64, 1, cells},
                        {kTypes, kCells, Type::uint8, 1, cells}};
  return description;
}

std::string path_of(const std::string& location, const std::string& name) {
  for (const Array& own : describe(0, 0, 0).arrays) {
    if (own.location == location && own.name == name) return "VTKHDF/" + name;
  }
  return (location == kPoints ? "VTKHDF/PointData/" : "VTKHDF/CellData/") + name;
}

}  // namespace grid

Status check_grid(const Description& description) {
  for (const Array& own : grid::describe(0, 0, 0).arrays) {
    const Array* found = description.array(own.location, own.name);
    if (found == nullptr || found->type != own.type || found->components != own.components) {
      return error(Code::bad_input, fmt::format("a grid needs an array {} on {}: {} x {}", own.name, own.location,
                                                own.components, name_of(own.type)));
    }
  }
  for (const Array& each : description.arrays) {
    const bool own = each.location == grid::kCorners && each.name == grid::kConnectivity;
    if (own || each.location == grid::kPoints || each.location == grid::kCells) continue;
    return error(Code::bad_input, fmt::format("array {} of a grid is on '{}', not on points or cells", each.name,
                                              printable(each.location)));
  }
  return {};
}

}  // namespace forebay::array_file
