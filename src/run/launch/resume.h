// Resume: what happens to a run on this node when its agent is gone. The journal is replayed and the drain then ends as
// that of a living agent does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/base.h"
#include "run/launch/plan.h"
#include "run/launch/pool_run.h"
#include "run/launch/report.h"

namespace forebay::launch {

// Is told the state now and then; false: stop as soon as possible.
using ResumeProgress = std::function<bool(const NodeReport&)>;
// Finishes the drain of a run whose agent is gone, or only empties its pool, where all is home. `cleanly`: the program
// is known to have ended with status 0. The plan's path is that of the case now. Code::busy: somebody else works on it,
// or has just emptied the pool.
Result<NodeReport> resume_drain(const PoolRun& found, bool cleanly, const ResumeProgress& progress, Clock& clock);
// Until what the run left is home or cannot be: where its program still runs, or somebody else works on it, that is
// waited for, and its outcome is returned. `waits` is told for whom, with what is last known.
Result<NodeReport> bring_home(const PoolRun& run, bool cleanly, const ResumeProgress& progress,
                              const std::function<bool(const std::string& whom, const NodeReport&)>& waits,
                              Clock& clock);
// The same for what this node holds of a run whose agent was killed, once all its processes on this node have ended.
// `agent`: the process that it was. Reports to the control directory as an agent does, also when it fails.
Result<NodeReport> resume_node(const Plan& plan, bool cleanly, pid_t agent, Clock& clock);
// In the pool of a run whose agent, or who resumed it, was left alone in a call at `path`.
void tell_that_it_hangs(const Plan& plan, const std::string& home, const std::string& path);
// Where this run has its pools on this node, by its own settings.
Result<std::vector<std::string>> pools_here(const Plan& plan);
// Lets the processes of a run go on that its agent held back before it was killed.
void release_ranks(const Plan& plan);
void release_ranks(const PoolRun& run);
// In the place of an agent that was killed: while `goes_on`, what the program purges is freed.
void free_purged_while(const Plan& plan, const std::function<bool()>& goes_on, Clock& clock);

}  // namespace forebay::launch
