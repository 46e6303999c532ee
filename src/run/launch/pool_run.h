// A run's directories in the pools of one node, and what they say of themselves: <pool>/forebay-<uid>/<run>/s<socket>,
// mode 0700, each with run.json, the sentinel that proves that the pool was not emptied. The first is the home: it also
// has the journal, the local tree, the kept times, the agent's log, its lock and its status.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/base.h"
#include "run/drain/drain.h"
#include "run/launch/plan.h"
#include "run/node/node.h"

namespace forebay::launch {

// The node's report (report.h) in the home, as its agent last told it.
inline constexpr const char* status_name = "status.json";
// The gate in the home, at which the node's programs wait while they are held back.
inline constexpr const char* gate_name = "gate";

// There as soon as `forebay run` was told to end while the run drains.
inline constexpr const char* leave_name = "leave";

struct PoolRun {
  Plan plan;
  std::string node;
  std::vector<std::string> directories;  // by socket; [0] is the home
  std::map<int, std::string> ranks;      // rank -> its pool's directory; -1 for a case in one piece
  // Where files lie that ranks make in directories they share: in each run directory on another mount than the home's.
  std::vector<std::string> placed;
  std::map<std::string, std::uint64_t> devices;  // of `directories`, each by the device that it was made on
  int agent_pid = 0;                             // of who made them
  bool durable = false;                          // at least the home survives the node
  std::string tree_name;                         // the case's, when the run began
  // The case's directory as it was then: another one may have its name by now, and it may have another name.
  std::uint64_t case_device = 0, case_inode = 0;
  // All pools are one mount: ranks' directories are directories of the tree, and what is kept of them lies in the home.
  // Otherwise each lies in the pool of its rank's socket, and the tree has a link to it.
  bool one_mount = false;
  mode_t umask = 0022;  // of the ranks
  // Ranks' directories for which the case has a link to a directory elsewhere.
  std::vector<drain::LinkedDirectory> linked;

  const std::string& home() const { return directories.front(); }
  std::string lower() const { return join(home(), "lower"); }
  std::string tree() const;  // named like the case: some programs print or use the name of the directory
  // The tree, and the ranks' directories to which it has links now. None while the tree is still being made: no program
  // begins before a rank has come.
  std::vector<drain::Root> roots() const;
  std::vector<int> rank_numbers() const;
};

// Makes the directories and writes the sentinels.
Result<PoolRun> make_pool_run(const Plan& plan, const std::vector<node::Pool>& pools, mode_t umask);
// Writes the sentinels again, after a rank has come.
Status save(const PoolRun& run);
Result<PoolRun> load_pool_run(const std::string& home);
// A run whose description cannot be read; Code::lost: it is damaged.
struct UnreadableRun {
  std::string home;
  Error error;
  std::string tree = {};  // where its files lie, if only what describes it is gone
};
// All runs of this user that left directories in these pools.
std::vector<PoolRun> find_pool_runs(const std::vector<std::string>& pool_paths, std::vector<UnreadableRun>& unreadable);
// True while an agent works on it (it holds the lock in the home as long as it lives).
bool has_agent(const PoolRun& run);
// The lock; held as long as the descriptor lives. Code::busy when another process has it, or has just emptied the pool.
Result<Descriptor> lock(const PoolRun& run);
// The same file, for who waits: also when the pool is gone it tells what its holder has left there.
Result<Descriptor> open_lock(const PoolRun& run);
bool is_locked(const Descriptor& lock);
// `path` is the directory that the run was started on, by device and inode; where its file system was mounted anew, by
// its inode and the run's mark in it.
bool is_case_of(const PoolRun& run, const std::string& path);
// Code::undrained where the plan's path leads to another directory or to none; the message says where the case was
// found.
Status expect_case(const PoolRun& run);
Status remove(const PoolRun& run);
// Removes the rest of a home where a process was killed after it had removed all files that describe the run. False
// where there is more.
bool remove_emptied(const std::string& home);
// Removes from the case what a run that is thrown away was still bringing there, under temporary names of its own.
Status remove_temporaries(const Plan& plan);

// How the drain of this run works, from the run's settings.
drain::DrainRequest drain_request(const PoolRun& run);

}  // namespace forebay::launch
