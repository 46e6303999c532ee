// Restart points: the states of the ranks of this node that a run may be started from again. Once a second, or when a
// rank asks for it, the agent looks at the times of all ranks. The core (run/core/decide.h) says what follows from the
// look, and here that is done: purged times are freed, a state is taken and carried, and a state that is home
// everywhere is safe. A part of the Drain that needs a fact of a time looks it up in the last look. Private to the
// room. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/core/decide.h"
#include "run/core/restartable.h"
#include "run/drain/links.h"
#include "run/drain/look.h"
#include "run/drain/run.h"

namespace forebay::drain {

struct RestartPoints {
  Run& run;
  Observation& seen;
  Work& work;
  End& end;

  // The files of a line under names that nobody but this takes away.
  struct Taken {
    core::LineId line;
    std::string directory;
    TimeFiles files;  // as the look found them
  };
  // A state that is carried from there, and the mesh that it needs, of each rank.
  struct Held {
    core::StateId state;
    std::map<int, std::vector<Taken>> parts = {};
  };
  // A state that the case has for all ranks of the node.
  struct Home {
    std::string time;
    core::NamesOfRanks names;
    std::map<int, core::LineId> lines;
  };

  std::optional<Pages> pages = {};  // where the redirection library is loaded
  Look looks{run, pages};
  std::map<int, RankTimesFound> found = {};  // by the last look
  core::Times times = {};                    // what it says
  std::vector<core::StateId> good = {};      // restartable, newest first
  core::Ledger ledger = {};
  core::Reports reports = {};
  std::map<std::string, Held> held = {};  // by the state's time
  std::map<std::string, int> uses = {};   // of held times, by jobs
  std::map<core::StateId, Home> home = {};
  std::set<std::string> begun_again = {};         // times that were home
  std::vector<Home> to_leave = {}, leaving = {};  // not called safe any more; and that was told (Drain::told)
  Clock::time_point next_look = {};
  struct Nodes {
    int count = 1;                            // of the run, as far as they have told of themselves
    std::optional<std::string> on_case = {};  // the newest time that all others have there
  } others = {};
  struct Counted {
    std::map<int, std::uint64_t> begun = {};  // of each rank: the newest line that the timeline knows
    std::map<std::pair<int, core::LineId>, std::size_t> names = {};  // noted for who resumes the run
    std::map<std::uint64_t, std::uint64_t> step_bytes = {};          // of the newest lines, over all ranks
  } counted = {};

  // To be called when a rank's inputs are known.
  void note_start();
  // `all`: also of what is older than the newest state and stands in the tree.
  void look(bool all = false);
  void act();
  void look_and_act();
  void look_when_due();
  // At a clean end, after the last look: the kept times go with the pool.
  void note_end();
  void pool_is_full(bool now);
  bool look_is_wanted() const { return pages && pages->look_is_wanted(); }

  std::optional<std::string> newest_complete() const;
  std::optional<std::string> newest_safe() const;
  // The newest, oldest first.
  std::vector<std::string> safe_times() const, complete_times() const;
  // Left and whole for all ranks of the node.
  bool is_complete(const std::string& time) const;
  // The same, though a file of it may still be open.
  bool is_complete_but_open(const std::string& time) const;
  // Such times of which the program has purged nothing, oldest first.
  std::vector<std::string> complete_in_tree() const;
  // All times that were looked at, in the order in which they were begun.
  std::vector<std::string> times_begun() const;
  bool is_home(const std::string& time) const;
  // The library writes down its times, and keeps what it purges.
  bool is_told_of(int rank) const { return pages && pages->page_of(rank).begun != 0; }
  // Whether the case has all held files of the time on this rank.
  bool is_home(int rank, const std::string& time) const;
  // The program has purged nothing of it.
  bool stands_in_tree(const std::string& time) const;
  // The states of core::last_states and the times that their meshes lie in, oldest first.
  std::vector<std::string> last_times() const;
  // Readers look for times in the directory of the first rank. So its node brings a time when the other nodes have.
  bool waits_for_nodes(const std::string& time, Clock::time_point since) const;
  // Their files go to the case as they stand there, or one by one as the program closes them.
  bool carries_times_whole() const;

  // These, under names of ours.
  void take_last();
  bool take(const core::StateId& state);
  void carry(const core::StateId& state);
  // For a job that was submitted, or is done.
  void use(const std::string& time, bool begin);
  const Held* held_of(const std::string& time) const;
  TimeFiles held_files(int rank, const std::string& time) const;
  // Where nothing of it is held: what the last look found of it.
  TimeFiles files_of(int rank, const std::string& time) const;
  // Where files of a time that is read in `directory` have other names that are ours.
  OwnNames own_names(int rank, const std::string& time, const std::string& directory) const;
  std::string held_directory(int rank, const std::string& time) const;
  void time_is_home(const std::string& time);
  void find_home();
  void find_superseded();
  void remove_superseded();

 private:
  core::Names start_names() const;
  core::Settings settings() const;
  bool several() const;
  std::uint64_t first_line(int rank) const;
  void note_times();
  void note_names(int rank, const core::LineId& line, const TimeFiles& files);
  double left_at(const core::Parts& parts) const;
  void note_files(const core::Time& time, const TimeFiles& files);
  void free(int rank, const std::set<core::LineId>& lines);
  void note_freed(int rank, const core::LineId& line);
  std::vector<std::string> paths_kept(int rank, const core::LineId& line, const std::string& name) const;
  bool take_line(int rank, const core::RankLook::OfLine& of, Held& into);
  // This rank's part of a held state; null where nothing of the time is held.
  const Taken* taken_of(int rank, const std::string& time) const;
  bool is_used(const Held& each) const;
  bool is_held_elsewhere(const std::string& directory, const Held& than) const;
  void release(const std::string& time);
  void release_unused();
  std::vector<core::StateId> last_states() const;
  bool are_home(const std::string& directory, const TimeFiles& files) const;
  bool are_home(const core::Parts& parts) const;
  static Home home_of(const core::Parts& parts);
  void note_home(const core::StateId& state, Home&& of);
  bool may_remove() const;
  bool was_purged(const Home& of) const;
  bool is_begun_again(const Home& of) const;
  bool is_linked_to(const std::set<std::string>& directories) const;
};

}  // namespace forebay::drain
