#include "meshes/mesh/periodic.h"

#include <algorithm>

namespace forebay::mesh {

std::vector<SmallPair> small_pairs(const Refinement& refinement, const Topology::Periodic& pair) {
  const Shape shape = refinement.topology().faces[pair.face].shape;
  const std::vector<std::uint32_t>& corners = refinement.pattern(shape).cells.front().corners;
  const FaceTurns& turns = refinement.turns(shape);
  const auto width = std::min<std::size_t>(describe(shape).corners, kFaceCorners);  // which the compiler cannot know
  std::vector<SmallPair> pairs;
  for (std::uint32_t image = 0; image < refinement.faces_on_face(); ++image) {
    SmallPair small{turns.cells[pair.turn][image], image, {}};
    for (std::size_t there = 0; there < width; ++there)
      for (std::size_t here = 0; here < width; ++here)
        if (corners[small.face * width + here] == turns.points[pair.turn][corners[image * width + there]])
          small.corners[here] = static_cast<std::uint8_t>(there);
    pairs.push_back(small);
  }
  return pairs;
}

}  // namespace forebay::mesh
