// How steady a run was: the time of each step, and what forebay did meanwhile. A step lies between two written times.
// Its size does not grow with the run. Pure bookkeeping; seconds are those of the drain (drain::Activity).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/drain/timeline.h"
#include "run/launch/programs.h"

namespace forebay::launch {

// The totals from one moment to another.
struct Span {
  double begin = 0, end = 0;
  double held = 0, busy = 0;                           // seconds that programs were held back, that the drain worked
  std::uint64_t written_bytes = 0, carried_bytes = 0;  // into the pools, to the case
  double fill = 0;                                     // of the fullest pool, at most
  // The steps that ended in it.
  std::uint64_t steps = 0;
  double steps_seconds = 0, shortest = 0, longest = 0;
  std::uint64_t steps_together = 0;  // that were noticed with others: means

  double seconds() const { return end - begin; }
};

// One after the other without a gap. Where they become too many, neighbours become one.
class Spans {
 public:
  static constexpr std::size_t most = 512;

  void add(const Span& next);
  // A step that ended then.
  void add_step(double end, double seconds, bool together);
  // Later spans are as short as at the beginning again.
  void forget_before(double moment);
  // The totals between two moments; a span that reaches beyond them counts with its share.
  Span between(double begin, double end) const;
  const std::vector<Span>& all() const { return spans_; }

 private:
  std::vector<Span> spans_;
  static constexpr double least_width = 0.01;
  double width_ = least_width;  // seconds that a span lasts at least
};

// Within 1 % of the value that so large a part of all does not exceed.
class Quantiles {
 public:
  void add(double value);
  double at(double part) const;  // 0 where there is none

 private:
  std::map<int, std::uint64_t> counts_;  // by the logarithm
  std::uint64_t all_ = 0;
};

struct StabilityReport {
  std::string program;              // that began the times; empty: none is known
  std::uint64_t ranks = 0;          // in the directories of so many; 0: in the case's own
  double program_ended = 0;         // when the run's program had
  std::uint64_t written_bytes = 0;  // into the pools
  bool written_is_more = false;     // and at least so much
  std::uint64_t steps = 0;
  std::uint64_t steps_together = 0;  // of them so many were noticed with others: each is told as the mean of those
  double shortest = 0, median = 0, p90 = 0, p99 = 0, longest = 0, mean = 0;
  struct Step {
    std::string time;  // the one that ended it
    Span span;
  };
  std::vector<Step> worst;  // the longest first
  std::vector<Span> course;
};

class Stability {
 public:
  static constexpr std::size_t worst_told = 10;
  // Until now.
  struct Totals {
    double held = 0;
    std::uint64_t written_bytes = 0, carried_bytes = 0;
  };

  // The caller samples often: the moment of an event between two samples is not known.
  void sample(double now, const Totals& totals, double fill, bool busy);
  // Times come in order, and no later than the last sample.
  void begun(const std::string& time, double when, bool together);
  // The next time that is begun ends no step.
  void interrupt() { last_begun_ = -1; }
  std::uint64_t steps() const { return report_.steps; }
  double mean() const { return report_.mean; }
  const StabilityReport& report();

 private:
  Totals last_;
  double last_begun_ = -1;
  Spans course_, since_last_begun_;
  Quantiles quantiles_;
  StabilityReport report_;
};

// The steps of a run that may be a script of several programs: the interval between the times of two programs is no
// step of either. Told is the one that wrote most times on ranks, each its own; where nobody wrote times there, the one
// that wrote most.
class Steadiness {
 public:
  using Totals = Stability::Totals;

  void sample(double now, const Totals& totals, double fill, bool busy);
  // The times of each program come in order, and no later than the last sample. `writer`: where it is known.
  void begun(const std::optional<TimeWriters::Writer>& writer, const drain::Timeline::Begun& begun);
  // Only the program, how many steps it has made, and their mean.
  StabilityReport pace() const;
  StabilityReport report() const;

 private:
  struct OfProgram {
    std::string name;
    double began;  // the last run of it
    std::uint64_t ranks, processes;
    Stability stability;
  };
  static constexpr std::size_t most_programs = 8;
  const OfProgram* most() const;

  Stability without_times_;
  std::vector<OfProgram> programs_;
  bool in_ranks_ = false;  // times were written there, whoever did
};

}  // namespace forebay::launch
