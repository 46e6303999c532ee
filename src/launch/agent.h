// The node's agent: one per node and run. It stages, welcomes the ranks, drives the drain, holds processes back when a
// pool is full, reports, and leaves when everything is home. A child of the node's first `forebay exec`, in a session
// of its own, with its own stdio.
#pragma once

#include <functional>

#include "base/base.h"
#include "launch/plan.h"
#include "launch/report.h"

namespace forebay::launch {

// Never returns an error: what goes wrong is told to the ranks that ask, to the reports and to the log. `listener` is
// the node's socket; from `parent` comes one int, the wait status of the parent's own program, or the end of the file
// when the parent died. Returns the agent's exit status.
int run_agent(const Plan& plan, Descriptor listener, Descriptor parent);

// Finishes the drain of a run whose agent is gone. `cleanly`: the program is known to have ended with status 0.
// `progress` is told the state now and then; may be empty.
Result<NodeReport> resume_drain(const std::string& home, bool cleanly,
                                const std::function<void(const NodeReport&)>& progress);
// The same for what this node holds of a run whose agent was killed, once all its processes on this node have ended.
// Reports to the control directory as an agent does, also when it fails.
Result<NodeReport> resume_node(const Plan& plan, bool cleanly);
// Lets the processes of a run go on that its agent held back before it was killed.
void release_held(const Plan& plan);

}  // namespace forebay::launch
