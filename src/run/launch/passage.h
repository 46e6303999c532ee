// The permission to pass through the pool.
#pragma once

#include "run/launch/pool_run.h"

namespace forebay::launch {

// Where anybody may pass to the case, anybody may pass to the tree and to what its links lead to (mode 0711), as a
// child of root's program must that becomes another user. There each finds what the case lets it read; the rest stays
// private.
void let_pass(const PoolRun& run);

}  // namespace forebay::launch
