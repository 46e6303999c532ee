// The coarse mesh that was asked for.
#pragma once

#include <string>

#include "mesh/reader.h"

namespace forebay::multiply {

// "cavity:tetrahedra:12" is the lid-driven cavity of 12 x 12 x 12 cubes in tetrahedra (hexahedra, prisms, pyramids);
// anything else is a file, read by the program `reader`, with the array `groups` if that is not empty (mesh/reader.h).
// What is left out of a file is told with its name.
Result<mesh::Coarse> coarse_mesh(const std::string& source, const std::string& reader, const std::string& groups);

}  // namespace forebay::multiply
