// Stage ahead: `forebay stage` copies what a run will read into this node's pools before the run, as warm files
// (run/tree/warm.h), so that the next run on the case starts without reading them from the shared file system.
//
// Copies are verified, parallel and resumable: they are made in the pool's ahead directory, beside an index that says
// of what they are copies, and become the warm set by renaming when all are there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/base.h"
#include "base/clock.h"
#include "run/launch/report.h"
#include "run/settings/settings.h"

namespace forebay::launch {

// Ranks first to last, this node's part of a decomposed case; `all` when the user said how many there are in all.
struct RankRange {
  int first = 0, last = 0;
  std::optional<int> all;
};
// "4": ranks 0 to 3 of 4; "8-15": this node's part.
Result<RankRange> parse_ranks(const std::string& text);

struct AheadRequest {
  std::string case_path;  // as typed
  settings::Settings settings;
  std::optional<RankRange> ranks;  // nullopt: all that the case is decomposed into
};

struct AheadReport {
  std::string case_path;
  std::uint64_t files = 0, bytes = 0;            // staged now
  std::uint64_t kept_files = 0, kept_bytes = 0;  // of these: were there already
  std::vector<std::string> pools;                // that hold them
};

// `progress` is told about five times a second.
Result<AheadReport> stage_ahead(const AheadRequest& request, const std::function<void(const NodeReport&)>& progress,
                                Clock& clock);

// Which of the times in a directory a run begins with, by the entry startFrom (and startTime) of system/controlDict;
// empty when there is none. The latest where only OpenFOAM can tell.
std::string start_time(const std::string& control, const std::vector<std::string>& times);

}  // namespace forebay::launch
