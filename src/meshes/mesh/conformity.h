// Whether the cells of a mesh fit together. Two faces that lie on each other and are not one, because they have other
// points or other corners, are both at the boundary for whoever only looks at numbers: a solver finds a wall there.
#pragma once

#include <string>
#include <vector>

#include "meshes/mesh/topology.h"

namespace forebay::mesh {

// The findings that may be meant and may be a mistake, each in words for people, with counts and places: several bodies
// that have no face in common, and faces that coincide, corner on corner. Code::bad_input where faces lie on each other
// in another way: a point hangs on an edge, a quadrilateral lies on triangles, or plane faces overlap.
//
// The topology is the mesh's own. The time grows like n log n with the faces at the boundary, and like n with all
// others.
Result<std::vector<std::string>> conformity(const Mesh& mesh, const Topology& topology);

}  // namespace forebay::mesh
