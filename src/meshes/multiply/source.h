// The coarse mesh that was asked for.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meshes/mesh/reader.h"

namespace forebay::multiply {

// "cavity:tetrahedra:12" is the lid-driven cavity of 12 x 12 x 12 cubes in tetrahedra (hexahedra, prisms, pyramids);
// anything else is a file.
struct Sources {
  std::vector<std::string> names;
  std::string groups = {};  // the array of the cells that tells their groups; empty: by its name (meshes/mesh/reader.h)
  // For each of them but the last, its group of faces on which one of the next lies, and that one.
  std::vector<std::pair<std::string, std::string>> joints = {};
  double tolerance = 0;              // how far two points may lie apart that become one there
  std::optional<double> merge = {};  // the same for points anywhere, when all is joined
};

// `reader`: the program that reads files. Parts of a file that are left out are told with its name.
Result<mesh::Coarse> coarse_mesh(const Sources& sources, const std::string& reader);

}  // namespace forebay::multiply
