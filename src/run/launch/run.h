// `forebay run`: decides, starts the launcher with `forebay exec` put in, waits for the program and then for every
// node's drain, and says what happened.
#pragma once

#include <signal.h>

#include <functional>
#include <string>
#include <vector>

#include "base/base.h"
#include "base/clock.h"
#include "run/launch/line.h"
#include "run/launch/plan.h"
#include "run/launch/report.h"
#include "run/settings/settings.h"

namespace forebay::launch {

struct RunRequest {
  std::string case_path;             // as typed
  std::vector<std::string> command;  // behind `--`
  settings::Settings settings;
  std::string forebay;  // this program's own path
};

using SignalHandler = void (*)(int);

// The work that carry_out() will do; nothing is touched yet.
struct Prepared {
  Plan plan;
  LaunchLine line;
  // Time steps of this program from one written time to the next, where the case says.
  std::optional<double> steps_per_time;
  std::string application;
  std::vector<std::string> notices;
  std::string pool;  // this node's first one
  // The program's handling of SIGPIPE, where this process has changed its own.
  SignalHandler on_broken_pipe = SIG_DFL;
};
// Validates everything that can be known beforehand: the case, the launch line, the launcher, ranks against the
// decomposition, pools, the way in, whether the case can be written.
Result<Prepared> prepare(const RunRequest& request, Clock& clock);

// The one to whom the nodes' reports are shown while the run lasts.
struct Watcher {
  std::function<void(const std::vector<NodeReport>&)> show;  // gets the latest reports; empty: nobody is shown them
  bool at_terminal = false;                                  // a person sits before a terminal
};

// Carries it out. `watcher` is told about five times a second once nodes are seen to stage or drain. While all run
// their programs it is told ever more rarely: at a terminal at last every second (of many nodes every few seconds),
// else every 10 s, so what a node begins meanwhile may be shown so late. Errors are those of before the program
// started.
Result<RunReport> carry_out(const Prepared& prepared, const Watcher& watcher, Clock& clock);

// The path of a node's report in the control directory of a case.
std::string node_report_path(const std::string& case_path, const std::string& node);
// The reports that nodes have written there so far.
std::vector<NodeReport> read_node_reports(const std::string& case_path);

// The run was killed before a node told its case that it takes part, which each does before it lets a rank in: nothing
// was ever written. `case_path`: as this host has it. Known only where the run was started.
bool was_never_begun(const Plan& plan, const std::string& case_path);
// All nodes of the run have told on its case that what they had is home and their pools are empty. (The mark stays
// where `forebay run` had not waited for that.)
bool is_all_home(const Plan& plan);

}  // namespace forebay::launch
