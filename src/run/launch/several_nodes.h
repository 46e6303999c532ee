// Several nodes on a case that is in one piece: their ranks may write the same files at once, and what one node wrote
// into its own copy says nothing about the others' parts. So such runs are refused, unless the user names the
// directories that stay on the shared file system (stage.direct).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/base.h"
#include "base/clock.h"
#include "run/launch/plan.h"

namespace forebay::launch {

// How many nodes the launcher is asked for, where its words (LaunchLine::launcher) say so: host lists, host files,
// srun's -N; nullopt: they do not.
std::optional<int> nodes_in(const std::vector<std::string>& launcher);

// True when only one node may run this plan.
bool needs_one_node(const Plan& plan);
// The error when a plan that needs one node would run on others too.
tl::unexpected<Error> too_many_nodes(const std::string& which, const Plan& plan);
// The first node of such a run marks the control directory; every other one is refused.
Status claim_case(const Plan& plan, Clock& clock);

// Directories of stage.direct that are named without a pattern are no files, and those that the case lacks are made.
Status check_direct_directories(const Plan& plan);
Status make_direct_directories(const Plan& plan);

// Collects the directories below a case that match stage.direct: the tree gets links to the case in their place, so
// that what is written there goes straight to the shared file system.
class DirectDirectories {
 public:
  explicit DirectDirectories(const Plan& plan) : plan_(plan) {}
  // True when `path` is one of them; to be asked once of each entry of the case.
  bool take(const std::string& path);
  // Makes the links in the tree.
  Status link(const std::string& tree, const std::string& lower) const;

 private:
  const Plan& plan_;
  std::vector<std::string> taken_;
};

}  // namespace forebay::launch
