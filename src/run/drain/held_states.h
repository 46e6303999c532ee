// Held states: files of a state under names that nobody but this takes away. The program may purge its own names while
// the state is carried. Private to the room. One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/core/decide.h"
#include "run/drain/look.h"
#include "run/drain/run.h"

namespace forebay::drain {

class HeldStates {
 public:
  // The files of a line, as the look found them.
  struct Part {
    core::LineId line;
    std::string directory;
    TimeFiles files;
  };
  // A state that is carried from there, and the mesh that it needs, of each rank.
  struct Held {
    core::StateId state;
    std::map<int, std::vector<Part>> parts = {};
  };

  HeldStates(Run& run, const Look& looks) : run_(run), looks_(looks) {}

  // Gives all files of a state names of ours. `found`: the look that judged it. False: it is not what the look judged
  // any more, or jobs still use what is held of its time.
  bool take(const core::StateId& state, const core::Parts& parts, const std::map<int, RankTimesFound>& found);
  // Removes what no job uses.
  void release_unused();
  // A job of this time was submitted, or is done.
  void use(const std::string& time, bool begin);
  bool is_used(const std::string& time) const { return uses_.contains(time); }
  bool is_any_used() const { return !uses_.empty(); }

  std::set<core::StateId> states() const;
  // null: no state of this time is held.
  const Held* of_state(const std::string& time) const;
  // That state, or one that has its mesh there; null where nothing of the time is held.
  const Held* of(const std::string& time) const;
  // The part of one rank.
  const Part* part_of(int rank, const std::string& time) const;
  // The case has that part.
  bool is_home(int rank, const std::string& time) const;
  // Where files of a time that is read in `directory` have other names that are ours.
  OwnNames own_names(int rank, const std::string& time, const std::string& directory) const;

 private:
  bool take_line(int rank, const core::RankLook::OfLine& of, const TimeFiles& files, Held& into);
  bool take_file(const Part& part, int rank, const std::string& name, const TimeFile& file) const;
  bool is_as_judged(int rank, const core::RankLook::OfLine& of) const;
  std::vector<std::string> paths_kept(int rank, const core::LineId& line, const std::string& name) const;
  bool is_used(const Held& each) const;
  bool is_held_elsewhere(const std::string& directory, const Held& than) const;
  void release(const std::string& time);

  Run& run_;
  const Look& looks_;
  std::map<std::string, Held> held_ = {};  // by the state's time
  std::map<std::string, int> uses_ = {};   // jobs, by time
};

}  // namespace forebay::drain
