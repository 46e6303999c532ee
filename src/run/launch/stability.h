// How steady a run was: the time of each step, and what forebay did meanwhile. A step lies between two written times.
// Its size does not grow with the run. Pure bookkeeping; seconds are those of the drain (drain::Activity).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace forebay::launch {

// From one moment to another.
struct Span {
  double begin = 0, end = 0;
  double held = 0, busy = 0;                           // seconds that programs were held back, that the drain worked
  std::uint64_t written_bytes = 0, carried_bytes = 0;  // into the pools, to the case
  double fill = 0;                                     // of the fullest pool, at most
  // Of the steps that ended in it.
  std::uint64_t steps = 0;
  double steps_seconds = 0, shortest = 0, longest = 0;

  double seconds() const { return end - begin; }
};

// One after the other without a gap. Where they become too many, neighbours become one.
class Spans {
 public:
  static constexpr std::size_t most = 512;

  void add(const Span& next);
  // A step that ended then.
  void add_step(double end, double seconds);
  // What comes is told finely again.
  void forget_before(double moment);
  // What happened in between; of a span that reaches beyond that its share.
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
  // Until now; they never fall.
  struct Totals {
    double held = 0;
    std::uint64_t written_bytes = 0, carried_bytes = 0;
  };

  // To be called often: what happens between two samples is known no closer.
  void sample(double now, const Totals& totals, double fill, bool busy);
  // In order, and no later than the last sample.
  void begun(const std::string& time, double when, bool together);
  const StabilityReport& report();

 private:
  Totals last_;
  double last_begun_ = -1;
  Spans course_, since_last_begun_;
  Quantiles quantiles_;
  StabilityReport report_;
};

}  // namespace forebay::launch
