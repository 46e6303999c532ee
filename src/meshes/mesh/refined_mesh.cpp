#include <algorithm>
#include <numeric>

#include "meshes/mesh/part.h"
#include "meshes/mesh/periodic.h"

namespace forebay::mesh {
namespace {

// The corners of fine faces, by number.
class FaceList {
 public:
  explicit FaceList(const Elements& faces) : faces_(faces) {
    std::size_t corner = 0;
    for (const Stretch& stretch : faces.stretches)
      for (std::uint64_t i = 0; i < stretch.count; ++i, corner += describe(stretch.shape).corners)
        first_.push_back(corner);
    first_.push_back(corner);
  }
  FaceCorners corners_of(std::uint64_t face) const {
    FaceCorners corners{kNone, kNone, kNone, kNone};
    std::copy(&faces_.corners[first_[face]], &faces_.corners[0] + first_[face + 1], corners.begin());
    return corners;
  }

 private:
  const Elements& faces_;
  std::vector<std::size_t> first_;
};

void copy_groups(const Refinement& refinement, const FaceList& faces, Mesh& fine) {
  const Mesh& coarse = refinement.mesh();
  const Topology& topology = refinement.topology();
  for (std::size_t g = 0; g < coarse.face_groups.size(); ++g) {
    FaceGroup group{coarse.face_groups[g].name, {}};
    for (const std::uint32_t face : topology.face_groups[g])
      for (std::uint64_t i = 0; i < refinement.faces_on_face(); ++i)
        group.faces.push_back(faces.corners_of(refinement.faces_of_face(face) + i));
    fine.face_groups.push_back(std::move(group));
  }
  for (const CellGroup& coarse_group : coarse.cell_groups) {
    CellGroup group{coarse_group.name, {}};
    for (const std::uint32_t cell : coarse_group.cells)
      for (std::uint32_t i = 0; i < refinement.pattern(coarse.shapes[cell]).cell_count; ++i)
        group.cells.push_back(static_cast<std::uint32_t>(refinement.cells_of_cell(cell) + i));
    fine.cell_groups.push_back(std::move(group));
  }
}

void copy_periodic(const Refinement& refinement, const FaceList& faces, Mesh& fine) {
  for (const Topology::Periodic& pair : refinement.topology().periodic) {
    const unsigned corners = describe(refinement.topology().faces[pair.face].shape).corners;
    for (const SmallPair& small : small_pairs(refinement, pair)) {
      const FaceCorners image = faces.corners_of(refinement.faces_of_face(pair.image) + small.image);
      PeriodicFaces made{faces.corners_of(refinement.faces_of_face(pair.face) + small.face),
                         {kNone, kNone, kNone, kNone}};
      for (unsigned c = 0; c < corners; ++c) made.image[c] = image[small.corners[c]];
      fine.periodic.push_back(made);
    }
  }
}

}  // namespace

std::vector<std::uint32_t> all_cells(const Mesh& mesh) {
  std::vector<std::uint32_t> cells(mesh.cells());
  std::iota(cells.begin(), cells.end(), 0U);
  return cells;
}

Result<Mesh> refined_mesh(const Refinement& refinement) {
  auto part = make_part(refinement, all_cells(refinement.mesh()));
  if (!part) return forward(part);
  Mesh fine;
  fine.points.assign(part->points.all().begin(), part->points.all().end());
  fine.corners.assign(part->cells.corners.all().begin(), part->cells.corners.all().end());
  for (const Stretch& stretch : part->cells.stretches) {
    fine.shapes.insert(fine.shapes.end(), stretch.count, stretch.shape);
    for (std::uint64_t i = 0; i < stretch.count; ++i)
      fine.first.push_back(fine.first.back() + describe(stretch.shape).corners);
  }
  const FaceList faces(part->faces);
  copy_groups(refinement, faces, fine);
  copy_periodic(refinement, faces, fine);
  return fine;
}

}  // namespace forebay::mesh
