// Which part each coarse cell belongs to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "meshes/mesh/refinement.h"

namespace forebay::mesh {

struct Partition {
  std::uint32_t parts = 0;
  std::vector<std::uint32_t> part;  // of each coarse cell

  std::vector<std::uint32_t> cells_of(std::uint32_t which) const;  // ascending
};

// Cuts the Hilbert curve through the middles of the coarse cells into so many pieces, with as nearly equal numbers of
// refined cells as whole coarse cells allow. With more parts than coarse cells some are empty.
Result<Partition> partition_along_curve(const Refinement& refinement, std::uint32_t parts);

// The file has a line for each coarse cell with the number of its part, from 0, as METIS writes it.
Status write_partition(const Partition& partition, const std::string& path);
// For a mesh of so many cells; there are as many parts as the highest number says.
Result<Partition> read_partition(const std::string& path, std::size_t cells);

}  // namespace forebay::mesh
