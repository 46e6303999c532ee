// Values that differ from rank to rank, brought to where they are needed.
#pragma once

#include "arrays/array_file/array_file.h"
#include "arrays/blocks/team.h"

namespace forebay::blocks {

// On rank 0 those of all ranks, in their order; nothing on the others.
std::vector<array_file::PartCheck> gather(const Team& team, const std::vector<array_file::PartCheck>& mine);

// What rank 0 has, or its error, on every rank.
Result<array_file::Description> from_rank_0(const Team& team, const Result<array_file::Description>& mine);

}  // namespace forebay::blocks
