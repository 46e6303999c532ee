// Coarse meshes from files, through the library meshio: Gmsh .msh, VTU, VTK and whatever else it reads. It runs in a
// process of its own, with bounded memory, so that a damaged file ends that process at most.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshes/mesh/coarse.h"

namespace forebay::mesh {

struct Coarse {
  Mesh mesh;
  std::vector<std::string> left_out;  // what else the file holds: arrays, groups of edges, ...; each for people to read
};

// `program`: read_mesh.py, installed in share/forebay/mesh or beside the sources. Points that no cell has are dropped.
// `groups`: the array of the cells whose values are groups; empty: the one by whose name the program knows it. The
// error says what is wrong with the file, or that python3-meshio is missing.
Result<Coarse> read_mesh(const std::string& path, const std::string& program, const std::string& groups = {});

// The output of that program, as a mesh that is not looked at yet; none where its numbers do not fit each other.
std::optional<Coarse> parsed(std::string_view bytes);

}  // namespace forebay::mesh
