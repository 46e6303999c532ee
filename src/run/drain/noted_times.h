// Noted times: what each look adds to the timeline, to the figures, and to the list of names that the case lacks, which
// a resume reads. Private to the room. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "run/core/decide.h"
#include "run/core/restartable.h"
#include "run/drain/drained.h"
#include "run/drain/look.h"
#include "run/drain/run.h"

namespace forebay::drain {

class NotedTimes {
 public:
  explicit NotedTimes(Run& run) : run_(run) {}

  void note(const std::map<int, RankTimesFound>& found, const core::Times& times,
            const std::map<core::StateId, core::Parts>& common, const Drained& drained);
  // Counts the files of a line that goes. `kept`: where what the rank purges lies.
  void note_freed(int rank, const core::LineId& line, const RankTimesFound& of, const std::string& kept);
  // The most bytes of one output time of all ranks: so much room the next one may need.
  std::uint64_t largest_step() const { return largest_step_; }

 private:
  void note_begun(const core::Time& time, const RankTimesFound& of);
  void note_names(int rank, const core::LineId& line, const RankTimesFound& of);
  void note_files(const core::LineId& line, const TimeFiles& files);
  double left_at(const core::Parts& parts, const std::map<int, RankTimesFound>& found) const;

  Run& run_;
  std::map<int, std::uint64_t> begun_ = {};  // of each rank: the newest line that the timeline knows
  std::map<std::pair<int, core::LineId>, std::size_t> names_ = {};  // noted for who resumes the run
  std::map<std::uint64_t, std::uint64_t> step_bytes_ = {};          // of the newest lines, over all ranks
  std::uint64_t largest_step_ = 0;
};

}  // namespace forebay::drain
