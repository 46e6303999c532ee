// The edges and faces of a coarse mesh, each numbered once, and how cells see them.
//
// Edges are numbered in the order of their points, lower point first. Faces: those at the boundary first, then those
// between two cells, each in the order of their first cell. So the fine faces at the boundary come first, too.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "meshes/mesh/coarse.h"

namespace forebay::mesh {

struct Topology {
  // The edges around a cell or face, in the order in which describe() lists them.
  struct Outline {
    std::array<std::uint32_t, kMostEdges> edges;
    std::uint16_t backwards;  // one bit for each edge that is listed from its higher point to its lower
  };
  struct Face {
    Shape shape;
    FaceCorners corners;                 // as the lower of its two cells lists them: the normal points out of that cell
    std::array<std::uint32_t, 2> cells;  // lower first; kNone: the face lies at the boundary
    std::array<std::uint8_t, 2> places;  // which face of each cell it is
    Outline outline;
  };
  struct Cell {
    Outline outline;
    std::array<std::uint32_t, kMostFaces> faces;
    std::array<std::uint8_t, kMostFaces> turns;  // turned() of the cell's list of a face's corners against the face's
  };
  // Corners of `face` and `image` that belong together have the same place, once the image's are turned. No face is
  // `face` of two pairs, but it may be the image in several.
  struct Periodic {
    std::uint32_t face, image;
    std::uint8_t turn;
  };

  std::vector<std::array<std::uint32_t, 2>> edges;
  std::vector<Face> faces;
  std::uint32_t boundary_faces = 0;
  std::vector<Cell> cells;
  // The lowest cell at each point and edge: of several parts that share one, the part of this cell owns it.
  std::vector<std::uint32_t> point_owner, edge_owner;
  std::vector<std::vector<std::uint32_t>> face_groups;  // faces of each group of the mesh, ascending
  std::vector<Periodic> periodic;
};

// Checks the mesh first. The error names cells that do not fit together, or faces of groups that are no faces.
Result<Topology> number(const Mesh& mesh);

}  // namespace forebay::mesh
