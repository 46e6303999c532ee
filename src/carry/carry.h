// carry: brings a staged image to the file that it belongs to, and gives files of arrays their names.
//
// Promises: a file under its name is whole and on the disk; what was there before stays until then.
// Must not know: MPI. Nodes tell each other through files beside the one that they write.
#pragma once

#include <atomic>
#include <string>

#include "carry/publish.h"
#include "slots/slots.h"

namespace forebay::carry {

// The work of one node for one checkpoint. Idempotent: after a crash it is done again from the beginning. The node with
// rank 0 also writes what the file has besides its arrays (from `layout`), waits for the others, and gives the file its
// name. `stop` ends the waiting, not the carrying.
Status carry_image(const slots::StagedRecord& record, const std::string& image, const std::string& layout,
                   const std::atomic<bool>& stop);

// Whether the file of a record stands under its name already.
bool stands(const slots::StagedRecord& record);

}  // namespace forebay::carry
