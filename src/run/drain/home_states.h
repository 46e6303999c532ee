// Home states: those that the case has for all ranks of this node. A state leaves the case again when the program has
// purged it and a newer safe state supersedes it. Private to the room. One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/core/decide.h"
#include "run/core/restartable.h"
#include "run/drain/look.h"
#include "run/drain/run.h"

namespace forebay::drain {

class HomeStates {
 public:
  struct Home {
    std::string time;
    core::NamesOfRanks names;
    std::map<int, core::LineId> lines;
  };
  static Home home_of(const core::Parts& parts);

  explicit HomeStates(Run& run) : run_(run) {}

  void note(const core::StateId& state, Home of);
  // A time that the program begins again is not home any more. The case gets it anew, file by file.
  void forget_begun_again(const core::Times& times);
  bool was_begun_again(const std::string& time) const { return begun_again_.contains(time); }

  bool has(const core::StateId& state) const { return home_.contains(state); }
  bool has(const std::string& time) const;
  std::optional<core::StateId> newest() const;
  // Oldest first.
  std::vector<std::string> times() const;

  // All of the state is on the case as it lies here.
  bool has_parts(const core::Parts& parts, const std::map<int, RankTimesFound>& found) const;

  // Such copies that nothing needs any more are not called safe from now on. The program itself has removed the time
  // (journalled), and `safe` has all its names.
  void give_up_superseded(const core::StateId& safe);
  // Directories of the case that are to be removed: of states that had been given up at the last call. So nothing goes
  // that somebody may just have read of (Drain::told).
  std::vector<std::string> take_superseded();

 private:
  bool is_begun_again(const Home& of, const core::Times& times) const;
  bool was_purged(const Home& of) const;
  bool is_linked_to(const std::set<std::string>& directories) const;

  Run& run_;
  std::map<core::StateId, Home> home_ = {};
  std::set<std::string> begun_again_ = {};          // times that were home
  std::vector<Home> to_leave_ = {}, leaving_ = {};  // not called safe any more; and that was told
};

}  // namespace forebay::drain
