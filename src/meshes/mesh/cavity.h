// The lid-driven cavity: a cube of edge length 1 between walls, of which the upper one (z = 1) slides.
#pragma once

#include "meshes/mesh/coarse.h"

namespace forebay::mesh {

// `edge` cubes along each edge of the cavity; each is one hexahedron, two prisms, six pyramids or six tetrahedra.
// Groups of faces: "lid" and "walls". 1 to 400 cubes.
Result<Mesh> make_cavity(std::uint32_t edge, Shape shape);

}  // namespace forebay::mesh
