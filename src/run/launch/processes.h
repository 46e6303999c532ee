// Processes of a run on one node: who they are, and holding them back while a pool is full.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/base.h"
#include "run/node/file_systems.h"

namespace forebay::launch {

// `roots` and all their descendants, as /proc shows them now.
std::vector<pid_t> with_descendants(const std::vector<pid_t>& roots);
std::vector<pid_t> children_of(pid_t process);
// Stops (SIGSTOP) or continues (SIGCONT) them.
void pause_processes(const std::vector<pid_t>& processes, bool paused);
// A descriptor that becomes readable when the process ends (pidfd_open).
Result<Descriptor> watch_process(pid_t process);
// The wait status of a process that has ended, whoever its parent was; nullopt where the kernel does not tell (before
// Linux 6.15, once its parent has asked for it).
std::optional<int> status_of_ended(const Descriptor& watch, pid_t process);
// True when the process runs and has not begun to end (it closes its files while it ends), and when it has no children
// that might write in its stead.
bool is_working_itself(pid_t process);
// An open descriptor of a process, and how it was opened.
struct OpenFile {
  int number = -1;
  bool reads = false, writes = false;
  ino_t pipe = 0;                          // where it is one without a name
  std::optional<struct stat> status = {};  // where it lies on one of the file systems that were asked for
};
// The open files of a process of this user, as /proc shows them; none for a process that has ended. Only what lies on
// these file systems is looked at: another one's server may be dead, and a look at that file would never end.
std::vector<OpenFile> open_files(pid_t process, const std::set<std::string>& devices, node::FileSystems& systems);
// Whether a process of this user reads from one of these pipes.
bool reads_pipe(pid_t process, const std::set<ino_t>& pipes);
// Seconds between the start of the machine and that of a process.
std::optional<double> started_at(pid_t process);
// All of this user that live, but this one.
std::vector<pid_t> own_processes();
// Processes of this user that work for the run: they have its name in their environment.
std::vector<pid_t> processes_of(const std::string& run);
// The processes of the run that `forebay exec` became: the program has not ended while one lives. Their children have
// other numbers than this variable says.
inline constexpr const char* process_variable = "FOREBAY_PROCESS";
std::vector<pid_t> ranks_of(const std::string& run);
// Whether one of this user's processes has the run's name in its environment.
bool works_for(pid_t process, const std::string& run);

}  // namespace forebay::launch
