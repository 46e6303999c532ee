// What was seen late, or not at all. Private to the room.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/run.h"
#include "run/drain/watch.h"

namespace forebay::drain {

// A file of a time that a listing found: whether it was closed before the watch was set is not known. It is asked when
// it has been quiet for a moment, or when the rank goes on.
struct Unsure {
  int rank;
  std::string time, file;
  Clock::time_point found;
};

// A time of which a directory was listed only when the rank had begun the next.
struct Suspect {
  int rank;
  std::string time, next;
  bool removed;  // what has its name now is another
};

struct SeenLate {
  Run& run;
  Observation& seen;
  Policy& policy;

  std::map<std::string, Unsure> unsure = {};
  std::vector<Suspect> suspects = {};  // in the order in which they were left
  // Left behind by all ranks when they were first seen: neither watched nor kept aside, nor looked into before they
  // must be. With the files that were found then.
  std::map<std::pair<int, std::string>, Amount> passed_over = {};
  // Where ranks hold times: the files of those that were let go, while the program has them still and nothing else
  // does.
  std::map<std::pair<int, std::string>, Amount> files_forgotten = {};
  RankTimes unseen = {};  // times that were begun, and of which no file was told yet

  std::set<std::string> times_to_pass_over(const std::vector<Event>& events);
  RankTimes superseded_by(const std::vector<Event>& events) const;
  void look_into_passed_over(bool all);
  void trust_like_others();
  void decide_suspects(int rank);
  enum class Ask { left, quiet, all };
  void ask_unsure(Ask ask);
  void adopt(int rank);
  void forget_files(int rank, const std::string& time);
  void count_if_unseen(int rank, const std::string& time, bool removed);
};

}  // namespace forebay::drain
