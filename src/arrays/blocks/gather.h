// Values that differ from rank to rank, brought to where they are needed.
#pragma once

#include "arrays/array_file/array_file.h"
#include "arrays/blocks/team.h"

namespace forebay::blocks {

// The checks of all ranks on rank 0, in the ranks' order; nothing on the others.
std::vector<array_file::PartCheck> gather(const Team& team, const std::vector<array_file::PartCheck>& mine);

// The description or the error of rank 0, on every rank.
Result<array_file::Description> from_rank_0(const Team& team, const Result<array_file::Description>& mine);

}  // namespace forebay::blocks
