// Measures of a mesh on each of its levels: volume, orientation, quality.
#pragma once

#include <span>
#include <vector>

#include "meshes/mesh/survey.h"

namespace forebay::multiply {

// Coarse cells in their order, cut into jobs for several threads. They depend on the refinement alone, so that volumes
// are always added up in the same order.
std::vector<std::span<const std::uint32_t>> jobs_of(const mesh::Refinement& refinement,
                                                    std::span<const std::uint32_t> coarse_cells);

// The survey of what lies in these coarse cells, or an error where some of that is flat or inside out. `level`: by
// which the refinement is known to people.
Result<mesh::Survey> survey_cells(const mesh::Refinement& refinement, std::span<const std::uint32_t> coarse_cells,
                                  int level);

// Surveys the levels before the last: the mesh itself, refined once, ..., refined `levels` - 1 times. They have an
// eighth of the last one's cells, or less, each. Level 0 of the mesh is level number `by_level.size()`, and what is
// found is added to that.
Status survey_levels(const mesh::Mesh& mesh, const mesh::Topology& topology, int levels, unsigned threads,
                     std::vector<mesh::Survey>& by_level);

// ok where all have the same volume, but for rounding.
Status compare_volumes(std::span<const mesh::Survey> by_level);

}  // namespace forebay::multiply
