#include <algorithm>
#include <cstdlib>
#include <set>

#include "run/launch/processes.h"
#include "run/launch/programs.h"

namespace forebay::launch {
namespace {

std::string name_of_program(pid_t process) {
  const auto program = read_link("/proc/" + std::to_string(process) + "/exe");
  return program ? std::string(forebay::name_of(*program)) : std::string();
}

// Seconds since the machine was started; the same for when a process was.
double uptime() {
  return std::strtod(read_file("/proc/uptime").value_or("0").c_str(), nullptr);
}

bool reads_from_pipe(pid_t process) {
  const auto input = read_link("/proc/" + std::to_string(process) + "/fd/0");
  return input && input->starts_with("pipe:");
}

}  // namespace

std::vector<ProgramAtWork> programs_at_work(const std::vector<pid_t>& roots) {
  std::vector<ProgramAtWork> programs;
  const double now = uptime();
  for (const pid_t process : with_descendants(roots)) {
    if (!is_working_itself(process)) continue;
    const std::string name = name_of_program(process);
    const auto started = started_at(process);
    if (name.empty() || name == "forebay" || !started) continue;  // not begun yet
    auto found = std::ranges::find_if(programs, [&](const ProgramAtWork& each) { return each.name == name; });
    if (found == programs.end()) found = programs.insert(found, {name, {}});
    found->processes.push_back(process);
    found->age = std::max(found->age, now - *started);
    found->filters = found->filters || reads_from_pipe(process);
  }
  return programs;
}

bool is_alive(const ProgramAtWork& program) {
  return std::ranges::any_of(program.processes, [](pid_t process) { return is_working_itself(process); });
}

}  // namespace forebay::launch
