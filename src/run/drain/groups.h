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

class Groups {
 public:
  Groups(Run& run, Work& work) : run_(run), work_(work) {}

  // The groups that were carried, by their first and last ranks.
  const std::vector<std::pair<int, int>>& made() const { return made_; }
  void note_made(int first, int last);
  // The collated layout cannot hold this time.
  void note_not_collatable(const std::string& time) { not_collatable_.insert(time); }
  bool is_collatable(const std::string& time) const { return !not_collatable_.contains(time); }
  // A group of this time is to be made anew, or a dead run made it, or would have made it: the journal may not call the
  // time complete.
  bool is_of_groups(const std::string& time) const { return times_.contains(time); }
  std::vector<std::pair<int, int>> of_ranks() const;                        // that follow each other: first and last
  std::string path_of(int first, int last, const std::string& time) const;  // on the case
  bool is_given_up(int rank, const std::string& time) const;
  bool is_in_flight(int rank, const std::string& time) const;
  std::optional<std::map<std::string, Identity>> files_on_case(const std::string& target) const;
  Result<GroupNow> inspect(const CollatedTime& group, bool must_be_sealed) const;
  void renew(const CollatedTime& group);
  void renew_changed();
  void note_changed();
  void remove_replaced();
  Status find();

 private:
  bool is_key_in(const std::set<std::string>& keys, int rank, const std::string& time) const;
  bool is_untouched(const std::string& target) const;
  bool renew_if_changed(const CollatedTime& group, const Result<GroupNow>& now);

  Run& run_;
  Work& work_;
  std::vector<std::pair<int, int>> made_ = {};
  std::set<std::string> not_collatable_ = {};  // times
  std::set<std::string> times_ = {};           // is_of_groups()
};

}  // namespace forebay::drain
