// Logs: the files that a run prints to. `forebay run ... > log.solver` begins in the case, so its log is staged like an
// input, and grows on the case while the run lasts. It is none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>

namespace forebay::launch {

// The inodes of logs on the case's file system: standard output and error of `process` (forebay run), and the files
// that its children (the launcher) have open for writing. Where one of these is a pipe (`| tee log`), the files that
// its readers write count too, as far as the processes are this user's.
std::set<std::uint64_t> logs_of(pid_t process, const std::string& case_path);

}  // namespace forebay::launch
