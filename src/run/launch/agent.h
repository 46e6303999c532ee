// The node's agent: one per node and run. It stages, welcomes the ranks, drives the drain, holds processes back when a
// pool is full, reports, and leaves when everything is home. A child of the node's first `forebay exec`, in a session
// of its own, with its own stdio.
#pragma once

#include "base/base.h"
#include "base/clock.h"
#include "run/launch/plan.h"

namespace forebay::launch {

// Never returns an error: what goes wrong is told to the ranks that ask, to the reports and to the log. `listener` is
// the node's socket; from `parent` comes one int, the wait status of the parent's own program, or the end of the file
// when the parent died. The result is the agent's exit status.
int run_agent(const Plan& plan, Descriptor listener, Descriptor parent, Clock& clock);

}  // namespace forebay::launch
