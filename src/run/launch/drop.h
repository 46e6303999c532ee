// Throws away by name what can never be carried, so that the rest of a dead run can come home.
#pragma once

#include <string>

#include "run/launch/pool_run.h"

namespace forebay::launch {

// Removes a file, or a directory with all in it, from the local trees of a run on which nobody works: `path` is
// relative to the case. A file of the case with this name stays there: absence never deletes. Code::bad_input where it
// is no name below the case, leads through a link, or nothing has it here.
Status drop(const PoolRun& run, const std::string& path);

}  // namespace forebay::launch
