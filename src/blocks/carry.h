// Carries a staged image into the file it belongs to. Needs no MPI: nodes tell each other through files beside it.
#pragma once

#include <atomic>
#include <future>
#include <string>

#include "blocks/record.h"

namespace forebay::blocks {

// The work of one node for one checkpoint. Idempotent: after a crash it is done again from the beginning. The node with
// rank 0 also writes what the file has besides its arrays (from `layout`), waits for the others, and gives the file its
// name. `stop` ends the waiting, not the carrying.
Status carry(const StagedRecord& record, const std::string& image, const std::string& layout,
             const std::atomic<bool>& stop);

}  // namespace forebay::blocks
