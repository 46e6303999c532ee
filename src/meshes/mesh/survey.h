// Measures of a refined mesh, cell by cell: volume, orientation, quality, areas of groups. Every cell is looked at.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "meshes/mesh/refinement.h"

namespace forebay::mesh {

struct Survey {
  static constexpr std::size_t kBins = 10;
  std::uint64_t cells = 0;
  std::uint64_t inverted = 0;  // no positive volume, or a corner that is inside out
  double volume = 0;
  double least_volume = std::numeric_limits<double>::infinity();
  double least_quality = std::numeric_limits<double>::infinity();  // quality()
  double quality_sum = 0;
  std::array<std::uint64_t, kBins> histogram{};  // of qualities from 0 to 1; the first bin has the inverted ones, too
  std::vector<double> group_areas;               // of each group of faces
};

// The survey of these coarse cells, and of the faces that they own. Surveys of parts add up.
Survey survey(const Refinement& refinement, std::span<const std::uint32_t> coarse_cells);
Survey& operator+=(Survey& sum, const Survey& part);

}  // namespace forebay::mesh
