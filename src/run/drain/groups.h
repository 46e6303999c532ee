// Times that lie on the case as groups of ranks. Private to the room.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/run.h"

namespace forebay::drain {

// How the files of a group lie here now, compared with those that it was made of.
struct GroupNow {
  bool as_carried = false;
  bool all_there = false;    // all of them, perhaps newer, and perhaps more
  bool late = false;         // something is here that the group does not have
  bool directories = false;  // every rank's is there, and was not emptied to make room
};

struct Groups {
  Run& run;
  Observation& seen;
  Work& work;
  End& end;

  std::vector<std::pair<int, int>> made = {};  // of ranks: first and last
  std::set<std::string> not_collatable = {};   // times that the collated layout cannot hold
  // Times of groups that are to be made anew, or that a dead run made, or would have made: the journal may not call
  // them complete.
  std::set<std::string> times = {};

  std::vector<std::pair<int, int>> of_ranks() const;                        // that follow each other: first and last
  std::string path_of(int first, int last, const std::string& time) const;  // on the case
  bool is_given_up(int rank, const std::string& time) const;
  bool is_in_flight(int rank, const std::string& time) const;
  bool is_key_in(const std::set<std::string>& keys, int rank, const std::string& time) const;
  std::optional<std::map<std::string, Identity>> files_on_case(const std::string& target) const;
  Result<GroupNow> inspect(const CollatedTime& group, bool must_be_sealed) const;
  void renew(const CollatedTime& group);
  bool renew_if_changed(const CollatedTime& group, const Result<GroupNow>& now);
  void renew_changed();
  void note_changed();
  bool is_untouched(const std::string& target) const;
  void remove_replaced();
  Status find();
};

}  // namespace forebay::drain
