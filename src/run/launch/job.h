// A run as a whole, as its nodes told of it: what a person before it wants to know. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/launch/report.h"

namespace forebay::launch {

struct Job {
  std::string run;
  // Restartable, and on the case for all ranks of all nodes. `safe_of_script`: the same of ranks that a script started.
  std::optional<std::string> safe, safe_of_script;
  std::optional<std::string> writes;  // the time that was begun last
  drain::OnlyLocalAmount only_local;
  std::vector<std::string> where;      // the pools that hold it; of several nodes with their names
  std::vector<std::string> held_back;  // what waits for room: a text for each node
  std::optional<double> pool_fill;     // of the fullest one, 0 to 1
  std::uint64_t pool_may_hold = 0;
  // While no program works any more, and something is to be carried.
  struct Draining {
    std::uint64_t carried = 0, all = 0;  // bytes
    double seconds = 0;                  // it takes so far
    std::optional<double> seconds_left() const;
    double bytes_per_second() const { return seconds > 0 ? static_cast<double>(carried) / seconds : 0; }
  };
  std::optional<Draining> draining;
};
// `all_ranks`: of the run, as far as that is known; 0: those that the nodes tell of.
Job job_of(const std::vector<NodeReport>& nodes, int all_ranks);

// "safe on all nodes: time 0.4; only local: 3.10 MB in 24 files, for 12 s, in /dev/shm/...; held back: nothing"
std::string to_text(const Job& job);
// "writes time 0.5; safe: time 0.4; 3.10 MB in 24 files wait; pool 34 % of 8.00 GB"
std::string running_text(const Job& job);
// "62 % of 1.90 GB, 110 MB/s, 6.20 s left"; empty while nothing is known of that.
std::string draining_text(const Job& job);

}  // namespace forebay::launch
