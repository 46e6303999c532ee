// What the file of cells holds: all points, cells, and what is known of cells.
#pragma once

#include "mesh/stream.h"
#include "multiply/fine.h"
#include "multiply/grid_file.h"
#include "multiply/runs.h"

namespace forebay::multiply {

arrays::Description description_of(const Fine& fine, const Runs& runs);

Status write_points(const Fine& fine, GridFile& file);

// The cells of some coarse ones, ascending. Several threads may write several of them at once.
Status write_cells(const Fine& fine, const Runs& runs, std::span<const std::uint32_t> coarse_cells, GridFile& file);

}  // namespace forebay::multiply
