// `forebay exec`: what every rank runs. The node's first one starts the agent, by a keeper; the others become the
// program. The first one stays until the drain has ended, since batch systems kill the processes that a step leaves
// behind. It ends earlier where its program has failed while others work on.
#pragma once

#include <string>
#include <vector>

#include "base/base.h"
#include "base/clock.h"

namespace forebay::launch {

struct ExecRequest {
  std::string case_path;  // whose control directory has the plan
  std::vector<std::string> program;
};

// Returns only in the node's first, or when the program cannot be started; the value is the exit status: the
// program's own, 128 + signal when it was killed, 127 when it was not found.
Result<int> exec_program(const ExecRequest& request, Clock& clock);

// The rank of this process and the number of ranks, from the environment that the launcher set: Open MPI, PMIx, PMI
// (MPICH, Intel MPI), Slurm.
struct RankOfProcess {
  int rank = -1, size = 0;
  int on_node = 0;  // 0: the launcher does not say
};
RankOfProcess rank_of_process();
// The number of tasks that SLURM_STEP_TASKS_PER_NODE ("4(x2),3") tells for this node; 0: none is told.
int tasks_of_node(std::string_view tasks_per_node, int node);

}  // namespace forebay::launch
