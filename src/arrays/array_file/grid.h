// Files of arrays that VTK and ParaView read as an unstructured grid: VTKHDF, docs/format.md.
//
// The grid itself is four arrays on three locations; further arrays on its points and cells are its data.
#pragma once

#include <cstdint>
#include <string>

#include "arrays/array_file/description.h"

namespace forebay::array_file::grid {

inline constexpr const char* kPoints = "points";
inline constexpr const char* kCells = "cells";
inline constexpr const char* kCorners = "corners";  // of all cells, one cell after the other

inline constexpr const char* kPlaces = "Points";              // on points: three float64
inline constexpr const char* kConnectivity = "Connectivity";  // on corners: which point, counted from 0, as int64
inline constexpr const char* kEnds = "Offsets";  // on cells: how many corners it and those before have, int64
inline constexpr const char* kTypes = "Types";   // on cells: VTK's number of the shape, uint8

// A grid without data.
Description describe(std::uint64_t points, std::uint64_t cells, std::uint64_t corners);

// The path of an array in the file. "Offsets" begins with a 0 there, of no cell.
std::string path_of(const std::string& location, const std::string& name);
inline std::uint64_t leading_items(const std::string& location, const std::string& name) {
  return location == kCells && name == kEnds ? 1 : 0;
}

}  // namespace forebay::array_file::grid

namespace forebay::array_file {

// ok for a grid that is whole, with data on points and cells only.
Status check_grid(const Description& description);

}  // namespace forebay::array_file
