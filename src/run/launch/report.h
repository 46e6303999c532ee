// The reports of a run's agents, and the run's summary made of them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/base.h"
#include "run/drain/drain.h"
#include "run/launch/stability.h"
#include "run/launch/standstill.h"

namespace forebay::launch {

// removing: everything is home, and the pool is being emptied.
enum class Phase { staging, running, draining, removing, done };
std::string phase_name(Phase phase);

// One node. Its agent writes it: status.json in the home pool, and node-<host>.json in the control directory. Its JSON
// has the members of `staged`, `lasted` and `used` beside the others.
struct NodeReport {
  std::string node, run, home;
  Phase phase = Phase::staging;
  std::uint64_t beat = 0;  // grows while the agent lives
  int agent_pid = 0;
  struct Pool {
    int made_by = 0;                             // the agent that made it: itself, or the one that was killed
    std::string mount = {};                      // under which its home lies; empty: not known
    std::set<std::string> in_memory = {};        // paths of those in tmpfs
    std::uint64_t held_bytes = 0, may_hold = 0;  // by the run, in the fullest one; 0: not known
  } pool;
  struct Staged {
    std::uint64_t staged_files = 0, staged_bytes = 0, copied_bytes = 0, copy_bytes_in_all = 0;
  } staged;
  struct Lasted {
    double stage_seconds = 0, program_seconds = 0, drain_seconds = 0;
    std::uint64_t paused_milliseconds = 0;
    std::uint64_t carried_before_drain = 0;  // bytes, when the program had ended
  } lasted;
  struct Used {
    std::uint64_t agent_peak_bytes = 0;
    double agent_cpu_seconds = 0;
  } used;
  std::uint64_t queued_units = 0;
  std::vector<int> ranks;
  std::map<int, int> sockets;  // rank -> socket
  // Names of times, oldest first.
  struct Times {
    std::vector<std::string> complete;  // the newest restartable ones that this node still has
    std::vector<std::string> safe;      // the newest ones that are on the case for all ranks of this node
    std::set<core::StateId> carried;    // states on the case for all of them, none older than the safe one
    bool are_written = true;            // false: no rank of it has times of its own (so far)
  } times;
  struct Waits {
    std::vector<std::string> for_writers;  // at the end: processes that still write, for people
    std::optional<Standstill> for_room;    // while programs are held back
    std::string for_case;                  // the last attempt to bring something home failed: why
  } waits;
  // To what the user asked of it last (request.h).
  struct Answer {
    std::string request;  // its name; empty: nothing was asked
    std::string refusal;  // empty: it is done
  } answer;
  drain::DrainReport drain;
  StabilityReport stability;  // before the end no more than the pace
};
// Nothing of this node is only local: what its pool still holds may go.
bool is_home(const NodeReport& report);
// So many entries of the timeline are told at the end. It would grow with the steps.
inline constexpr std::size_t most_of_timeline = 1000;
// Takes the drain's report while it works: with fewer entries of the timeline.
void take_state(NodeReport& report, const drain::Drain& drain);
// The processor time and memory of this process.
void add_usage(NodeReport& report);
std::string to_json(const NodeReport& report);
// The process that works on a run leaves its report in the run's lock (pool_run.h) when the drain has ended: a process
// that waited for it can read it also when the pool is gone.
void leave_outcome(const Descriptor& lock, const NodeReport& report);
std::optional<NodeReport> outcome_in(const Descriptor& lock);
Result<NodeReport> node_report_from_json(const std::string& text);
Result<NodeReport> read_node_report(const std::string& path);
// The paths of those that nodes have written to a control directory so far. (Other names are of reports that were being
// written when their agent was killed.)
std::vector<std::string> node_report_paths(const std::string& control_directory);

struct RunReport {
  std::string case_path, run, command;
  int ranks = 0;
  int program_status = 0, exit_status = 0;
  double wall_seconds = 0, program_seconds = 0, stage_seconds = 0;
  std::optional<double> steps_per_time;  // as the case said when the run began, and of which program
  std::string application;
  std::optional<double> written_time_seconds;  // between written times, on average
  std::string written_time_program;            // of this program, which wrote them
  std::vector<NodeReport> nodes;
  std::optional<Code> trouble;
  std::vector<std::string> messages;                    // of what asks for something
  std::vector<std::string> notices;                     // and for nothing
  std::string io_ranks;                                 // collated: the FOAM_IORANKS that fits
  std::optional<std::string> last_complete, last_safe;  // over all ranks: anywhere, on the case
};
// The seconds of one time step, where the case says how many of that program lie between written times.
std::optional<double> step_seconds(const RunReport& report);
// Fills in everything that follows from `nodes` and `program_status`. `all_ranks`: as job_of takes it.
void summarise(RunReport& report, bool collated, int all_ranks);
// Something that no node could tell. The gravest trouble of all decides the exit status.
void add_trouble(RunReport& report, Code code, const std::string& message);
std::string to_json(const RunReport& report);
std::string to_text(const RunReport& report);

}  // namespace forebay::launch
