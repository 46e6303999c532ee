// Logs: the files that a run prints to. `forebay run ... > log.solver` begins in the case, so its log is staged like an
// input, and grows on the case while the run lasts. It is none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>

namespace forebay::launch {

// Inodes on the case's file system: what `process` (forebay run) has for its standard output and error, what its
// children (the launcher) have open for writing, and what takes either by pipes (`| tee log`), as far as those are
// processes of this user.
std::set<std::uint64_t> logs_of(pid_t process, const std::string& case_path);

}  // namespace forebay::launch
