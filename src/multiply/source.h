// The coarse mesh that was asked for.
#pragma once

#include <string>

#include "mesh/coarse.h"

namespace forebay::multiply {

// "cavity:tetrahedra:12" is the lid-driven cavity of 12 x 12 x 12 cubes in tetrahedra (hexahedra, prisms, pyramids);
// anything else is a file, read by `reader`.
Result<mesh::Mesh> coarse_mesh(const std::string& source, const std::string& reader);

}  // namespace forebay::multiply
