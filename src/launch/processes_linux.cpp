#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>

#include "launch/processes.h"

namespace forebay::launch {

std::vector<pid_t> with_descendants(const std::vector<pid_t>& roots) {
  std::multimap<pid_t, pid_t> children;
  const auto entries = list_directory("/proc");
  if (entries) {
    for (const DirectoryEntry& entry : *entries) {
      const auto process = parse_integer(entry.name);
      if (!process) continue;
      const auto stat = read_file("/proc/" + entry.name + "/stat", 4096);
      // "pid (name) state parent ...": the name may hold anything, so from its last parenthesis on.
      const std::size_t end = stat ? stat->rfind(") ") : std::string::npos;
      if (end == std::string::npos) continue;
      const auto words = split(std::string_view(*stat).substr(end + 2), ' ');
      const auto parent = words.size() > 1 ? parse_integer(words[1]) : std::nullopt;
      if (parent) children.emplace(static_cast<pid_t>(*parent), static_cast<pid_t>(*process));
    }
  }
  std::vector<pid_t> all = roots;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [first, last] = children.equal_range(all[i]);
    for (auto child = first; child != last; ++child) all.push_back(child->second);
  }
  return all;
}

void pause_processes(const std::vector<pid_t>& processes, bool paused) {
  for (const pid_t process : processes) ::kill(process, paused ? SIGSTOP : SIGCONT);
}

Result<Descriptor> watch_process(pid_t process) {
  Descriptor watch(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!watch) return errno_error("cannot watch process", std::to_string(process));
  return watch;
}

}  // namespace forebay::launch
