// Values that differ from rank to rank, brought to where they are needed.
#pragma once

#include "arrays/arrays.h"
#include "blocks/team.h"

namespace forebay::blocks {

// On rank 0 those of all ranks, in their order; nothing on the others.
std::vector<arrays::PartCheck> gather(const Team& team, const std::vector<arrays::PartCheck>& mine);

// What rank 0 has, or its error, on every rank.
Result<arrays::Description> from_rank_0(const Team& team, const Result<arrays::Description>& mine);

}  // namespace forebay::blocks
