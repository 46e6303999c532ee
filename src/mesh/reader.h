// Coarse meshes from files, through the library meshio: Gmsh .msh, VTU, VTK and whatever else it reads. It runs in a
// process of its own, with bounded memory, so that a damaged file ends that process at most.
#pragma once

#include <string>

#include "mesh/coarse.h"

namespace forebay::mesh {

// `program`: read_mesh.py, installed in share/forebay/mesh or beside the sources. Points that no cell has are left out.
// The error says what is wrong with the file, or that python3-meshio is missing.
Result<Mesh> read_mesh(const std::string& path, const std::string& program);

}  // namespace forebay::mesh
