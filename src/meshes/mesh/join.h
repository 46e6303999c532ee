// Several meshes made one, where their faces meet; and points made one, where they lie near each other.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "meshes/mesh/coarse.h"

namespace forebay::mesh {

// A group of faces of one of the meshes.
struct Side {
  std::size_t mesh;
  std::string group;
};
// Each face of the one lies on a face of the other, corner on corner.
struct Joint {
  Side one, other;
};

// Cells in the order of the meshes. At a joint the points of the lower mesh stay, and its two groups end to be. Groups
// of the same name in several meshes become one. `tolerance`: how far two corners that meet may lie apart.
// Code::bad_input when a face of a joint meets no other, or when two points of one side lie within the tolerance.
Result<Mesh> join(std::span<const Mesh> meshes, std::span<const Joint> joints, double tolerance);

// Makes points that lie no further apart than the tolerance one, the lowest of them, and tells how many went.
// Code::bad_input, with a mesh that is of no more use, where a cell would not stay what it is.
Result<std::size_t> merge(Mesh& mesh, double tolerance);

}  // namespace forebay::mesh
