// The content of the file of cells: all points, cells, and what is known of cells.
#pragma once

#include "meshes/mesh/stream.h"
#include "meshes/multiply/fine.h"
#include "meshes/multiply/grid_file.h"
#include "meshes/multiply/runs.h"

namespace forebay::multiply {

array_file::Description description_of(const Fine& fine, const Runs& runs);

Status write_points(const Fine& fine, GridFile& file);

// The cells of some coarse ones, ascending. Several threads may write several of them at once.
Status write_cells(const Fine& fine, const Runs& runs, std::span<const std::uint32_t> coarse_cells, GridFile& file);

}  // namespace forebay::multiply
