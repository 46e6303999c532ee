// The plan of a run: what `forebay run` decided and every node needs to know. It lies in the control directory on the
// case, <case>/.forebay (mode 0700), as plan.json, beside one report per node. The directory is also the lock: one run
// at a time per case. Where the case has something else of that name, it is the next of a few names; it is known by its
// plan.json.
#pragma once

#include <string>
#include <vector>

#include "base/base.h"
#include "base/clock.h"
#include "run/contract/text.h"
#include "run/node/node.h"
#include "run/node/ways.h"
#include "run/settings/settings.h"

namespace forebay::launch {

struct Plan {
  std::string run;         // "20261121-204600-3f2a": sorts by time
  std::string meeting;     // random: where its processes meet on a node (protocol.h)
  std::string case_path;   // absolute, links resolved
  std::string typed_path;  // as the user wrote it, made absolute
  settings::Settings settings;
  node::Way way = node::Way::path;
  bool redirect = false;    // load the redirection library (the way itself, or beside another)
  std::string library;      // its path
  bool launched = false;    // a launcher starts the ranks; false: one process
  bool decomposed = false;  // ranks have processor directories of their own
  int ranks = 1;            // of the decomposition when decomposed, else from the line, 0: not known
  bool openfoam = false;
  bool hold_times = false;  // the program purges times itself
  std::string start_time;   // that the solver of an OpenFOAM case starts from; empty: not known
  struct Groups {
    std::vector<std::string> start;   // directories of groups of ranks that the case has (collated input)
    contract::WrittenGroups written;  // that OpenFOAM's collated file handler will write to
  } groups;
  std::vector<std::string> written_together;  // directories of the case that its ranks write together, where known
  bool copy_inputs = false;         // no links: the program is not known to tolerate them, and nothing disguises them
  std::vector<std::uint64_t> logs;  // inodes in the case of what the run prints to (logs.h)
  std::string submit_host;          // where forebay run runs, and as which process
  int submit_pid = 0;

  // Drained times are put into groups of ranks.
  bool collates() const {
    return decomposed && groups.written.empty() && settings.drain.layout == settings::Layout::collated;
  }
  // So many ranks the nodes tell of; 0: that is not known.
  int expected_ranks() const { return decomposed && launched ? ranks : 0; }
};

std::string to_json(const Plan& plan);
Result<Plan> plan_from_json(const std::string& text);

// The possible names of a control directory.
std::vector<std::string> control_names();
// The control directory that the case has, or the one that it would get.
std::string control_directory(const std::string& case_path);
bool has_control_directory(const std::string& case_path);

// Makes the control directory and writes the plan. Code::busy when there already is one; the message tells whether that
// run is alive, and what to do when it is not.
Status make_control_directory(const Plan& plan);
Result<Plan> read_plan(const std::string& case_path);
// A process of this host is forebay's and lives. Its number may belong to another one by now.
bool is_forebay(int process);
// The process that started the run lives; of one that another host started nothing is known here: false.
bool is_alive(const Plan& plan);
// The case that `directory` lies in, by its control directory; empty when there is none above it.
std::string case_above(const std::string& directory);
// Only what is of the run: the program may have made a directory of that name, and all in it stays.
Status remove_control_directory(const std::string& case_path, Clock& clock);
// True when it is gone within two seconds: somebody is removing it, whose reports of nodes may have gone before its
// plan.
bool is_being_removed(const std::string& case_path, const std::string& run, Clock& clock);

std::string host_name();
std::string new_run_name(Clock& clock);
// 32 hexadecimal digits that nobody can guess.
std::string new_meeting();

}  // namespace forebay::launch
