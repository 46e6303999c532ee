// The numbers behind the optimal schedule. With s slots, l steps can be reversed while running none of them forward
// more than r times exactly when l <= C(s+r, s).
#pragma once

#include "store/schedule/schedule.h"

namespace forebay::schedule {

// C(s+r, s), or the largest Step where that is more.
Step reach(Step slots, Step repetitions);
// The least r with l <= C(s+r, s); for slots >= 1.
Step repetitions(Step steps, Step slots);
// How far to advance from a kept state with `steps` >= 2 steps ahead, when `slots` >= 1 slots (that of the kept state
// included) are there for them.
Step advance(Step steps, Step slots);

}  // namespace forebay::schedule
