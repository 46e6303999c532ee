// Processes of a run on one node: who they are, and holding them back while a pool is full.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/base.h"

namespace forebay::launch {

// `roots` and all their descendants, as /proc shows them now.
std::vector<pid_t> with_descendants(const std::vector<pid_t>& roots);
// Stops (SIGSTOP) or continues (SIGCONT) them.
void pause_processes(const std::vector<pid_t>& processes, bool paused);
// A descriptor that becomes readable when the process ends (pidfd_open).
Result<Descriptor> watch_process(pid_t process);

}  // namespace forebay::launch
