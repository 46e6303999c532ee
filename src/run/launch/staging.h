// Stage in, on one node of a run: the local tree with what all ranks share when the agent starts, and each rank's own
// directory, in the pool of its socket, when the rank comes. Everything staged is told to the drain.
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/base.h"
#include "base/clock.h"
#include "run/drain/drain.h"
#include "run/launch/plan.h"
#include "run/launch/pool_run.h"
#include "run/launch/report.h"
#include "run/tree/tree.h"
#include "run/tree/warm.h"

namespace forebay::launch {

class Staging {
 public:
  // `show` is called from time to time while files are copied; all others must outlive this.
  Staging(const Plan& plan, PoolRun& run, drain::Drain& drain, NodeReport& report, std::function<void()> show,
          Clock& clock)
      : plan_(plan), run_(run), drain_(drain), report_(report), show_(std::move(show)), clock_(clock) {}

  // The tree, without the directories that ranks bring: until then each is a link to the case, so none is ever missing.
  Status common();
  // The directory of one rank, into `pool`, a run directory.
  Status rank(int rank, const std::string& pool);
  // At the end: what a tool made for the ranks (decomposePar) is what the next run on this case reads first, so it
  // stays in the pool, within a part of its budget.
  void keep_warm(bool cleanly, std::uint64_t budget);

 private:
  // Links and copies become warm files where there are any.
  Status carry_out(const tree::StageRequest& request, tree::Inputs& inputs);
  Status add_rank(int rank, const std::string& pool);
  Status check_linked(const std::string& rank_directory);
  Status check_links(const std::string& rank_directory, const std::vector<tree::Entry>& entries);
  void count_warm(const tree::WarmSet& used);

  const Plan& plan_;
  PoolRun& run_;
  drain::Drain& drain_;
  NodeReport& report_;
  std::function<void()> show_;
  Clock& clock_;
  std::vector<tree::WarmFile> warm_;  // left by the run before, or copied ahead of this one
  tree::WarmSet warm_used_;
};

}  // namespace forebay::launch
