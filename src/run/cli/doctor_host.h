// Doctor's view of a node, beyond what the room `node` knows: launchers, huge pages, limits, devices without a file
// system.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace forebay::cli {

struct Launcher {
  std::string name;     // "mpirun"
  std::string path;     // "/usr/bin/mpirun"
  std::string version;  // first line of what `--version` prints; empty when it says nothing within two seconds
  std::string family;   // "Open MPI", "MPICH", "Intel MPI", "Slurm"; empty when unknown
};

struct Host {
  std::vector<std::string> pmem;           // block devices: "pmem0"
  std::string huge_tmpfs, huge_anonymous;  // the switch as the kernel has it: "advise", "never", ...
  std::optional<std::uint64_t> inotify_watches, inotify_queue;
  std::uint64_t open_files = 0, open_files_most = 0;  // this process's limits
  bool empties_at_logout = false;  // logind removes this user's files from /dev/shm when the last session ends
  std::vector<Launcher> launchers;
};

// `root` is "" for this node, or a test's own tree with /proc, /sys, /etc, /run and /var in it. `search` is like $PATH.
Host observe_host(const std::string& root, const std::string& search, uid_t user, Clock& clock);

// A user as the system's accounts have it: nullopt where nobody knows, or their server does not answer in time.
struct Account {
  std::string name, home;
};
std::optional<Account> account_of(uid_t user, Clock& clock);

// "Open MPI" from "mpirun (Open MPI) 4.1.4".
std::string family_of(const std::string& version);

}  // namespace forebay::cli
