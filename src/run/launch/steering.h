// The node's part in the user's request to its run (request.h): that an OpenFOAM program ends well. Its tree gets
// another controlDict, which the program reads while it runs. One thread at a time.
#pragma once

#include <optional>
#include <string>

#include "run/drain/drain.h"
#include "run/launch/report.h"
#include "run/launch/request.h"

namespace forebay::launch {

class Steering {
 public:
  void take(Asked asked) { asked_ = std::move(asked); }
  // Does what was asked, or tries again; true when the report has got an answer. `tree`: of the run.
  bool act(drain::Drain& drain, const std::string& tree, NodeReport& report);
  // At the end: the program has changed what was put there for it, or has removed it.
  bool was_rewritten(const std::string& tree) const;

 private:
  std::optional<Asked> asked_;
  std::optional<tree::Copied> put_;
};

// The notice for such a run.
std::string text_of_rewritten();

}  // namespace forebay::launch
