// Restart points: the states of the ranks of this node that a run may be started from again. Once a second, or when a
// rank asks for it, the agent looks at the times of all ranks. The core (run/core/decide.h) says what follows from the
// look, and here that is done: purged times are freed, a state is taken and carried, and a state that is home
// everywhere is safe. Private to the room. One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/core/decide.h"
#include "run/drain/held_states.h"
#include "run/drain/home_states.h"
#include "run/drain/last_look.h"
#include "run/drain/look.h"
#include "run/drain/noted_times.h"
#include "run/drain/run.h"

namespace forebay::drain {

class RestartPoints {
 public:
  RestartPoints(Run& run, Look& looks, HeldStates& held, Work& work)
      : run_(run), looks_(looks), held_(held), work_(work) {}

  // From now on ranks go to their directories by the case's path only.
  void map_nothing();
  // A rank of this node, and where what it purges goes; empty: it has no pool any more.
  void add_rank(int rank, std::string kept) { looks_.add_rank(rank, std::move(kept)); }
  // To be called when a rank's inputs are known.
  void note_start();
  // The program of this rank has ended well.
  void note_ended(int rank) { looks_.note_ended(rank); }
  void pool_is_full(bool now);
  // A pool was full, and nobody knows which files of ranks without a library were cut.
  void distrust_unwritten() { looks_.distrust_unwritten(); }

  // `all`: also at what is older than the newest state and stands in the tree.
  void look(bool all = false);
  void look_and_act();
  void look_when_due();
  bool look_is_wanted() const { return run_.witnesses.pages && run_.witnesses.pages->look_is_wanted(); }
  // At a clean end, after the last look: the kept times go with the pool.
  void note_end();
  // Times that stand in the tree are carried, since their room is needed.
  void make_room();
  // All restartable states that the case may need after a bad end are held.
  void take_last();

  const LastLook& last() const { return last_; }
  // The library writes down its times, and keeps what it purges.
  bool is_told_of(int rank) const { return run_.witnesses.tell_of(rank); }
  std::optional<std::string> newest_complete() const;
  std::optional<std::string> newest_safe() const;
  // The newest, oldest first.
  std::vector<std::string> safe_times() const, complete_times() const;
  bool is_home(const std::string& time) const;
  std::uint64_t largest_step() const { return noted_.largest_step(); }
  // The held files of this time, or else those that the last look found.
  TimeFiles files_of(int rank, const std::string& time) const;

  // Takes in the last reports of the run's other nodes; `nodes` counts all nodes.
  void hear(core::Reports reports, int nodes);
  const std::set<core::StateId>& carried() const { return ledger_.carried; }

  // The case has the time for all ranks of the node.
  void time_is_home(const std::string& time);
  void find_home();
  void give_up_superseded();
  void remove_superseded();

 private:
  std::vector<std::string> start_directories(int rank) const;
  core::Names start_names() const;
  core::Settings settings() const;
  std::uint64_t first_line(int rank) const;
  void act();
  void carry_complete();
  bool take(const core::StateId& state);
  void carry(const core::StateId& state);
  void free(int rank, const std::set<core::LineId>& lines);
  void note_home(const core::StateId& state, HomeStates::Home of);
  bool may_remove() const;

  Run& run_;
  Look& looks_;
  HeldStates& held_;
  Work& work_;
  LastLook last_ = {};
  HomeStates home_{run_};
  NotedTimes noted_{run_};
  core::Ledger ledger_ = {};
  core::Reports reports_ = {};
  int nodes_ = 1;  // of the run, as far as they have told of themselves
  Clock::time_point next_look_ = {};
};

}  // namespace forebay::drain
