// Policy: which times are safe, which a run may restart from (run/core/restartable.h), and which may go. Private to the
// room.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/core/restartable.h"
#include "run/drain/candidates.h"
#include "run/drain/run.h"
#include "run/drain/superseded.h"
#include "run/openfoam/cut_file.h"

namespace forebay::drain {

// What the nodes of a run agree on.
struct Nodes {
  std::optional<std::string> agreed = {}, pinned = {};
  std::optional<std::string> newest_everywhere = {};  // on the case for the ranks of all nodes
  std::optional<std::string> on_case_elsewhere = {};  // the newest that is there for those of all others
  std::set<std::string> kept_by_others = {};          // times that other nodes keep beside newer ones
  Candidates candidates = {};                         // while they have not agreed
  std::optional<std::string> newest_candidate = {};   // the last one that was added to them
};

struct Policy {
  Run& run;
  Observation& seen;
  Work& work;
  End& end;

  core::Written written = {};
  openfoam::Habits habits = {};  // how files of the start time and of whole times end
  std::map<std::string, std::map<int, openfoam::Endings>> seen_endings = {};  // of whole times, when looked at
  // Complete times that are held here, and that the case has, each in the order in which they were begun.
  std::vector<core::WholeTime> whole_times = {}, safe_whole_times = {};
  // As long as all complete times that were looked into have the same names, none need be looked into to be given up.
  std::optional<core::NamesOfRanks> alike_names = {};
  bool times_are_alike = true;
  // Complete and restartable; newest_safe: on the case.
  std::optional<std::string> newest_complete = {}, newest_safe = {};
  std::set<std::string> safe_times = {};        // drained for all ranks of the node
  std::vector<std::string> recently_safe = {};  // the newest restartable ones, oldest first
  Clock::time_point last_safe = run.start;
  Nodes nodes = {};
  Superseded superseded{run, seen, *this, work, end};

  // policy.cpp
  void new_complete_times();
  void release_kept();
  void let_go(const std::string& time);

  // restart.cpp
  void note_start();
  void each_of_start(int rank, const std::function<void(const std::string& path, const std::string& name)>& take) const;
  core::Required required() const;
  std::map<int, openfoam::Endings> endings_here(const std::string& time) const;
  core::NamesOfRanks learn_names(const std::string& time);
  core::NamesOfRanks names_here(const std::string& time) const;
  core::NamesOfRanks names_on_case(const std::string& time) const;
  core::NamesOfRanks learn_names_anywhere(const std::string& time);
  bool is_home(const std::string& time) const;
  void renew_names(const std::string& time);
  void note_whole(const std::string& time);
  void choose_restart_points();
  void choose_safe(const core::Required& needed);
  bool note_safe(const std::string& time);
  std::vector<std::string> restart_points() const;
  bool is_superseded(int rank, const std::string& time, const core::Names& names) const;
  std::optional<std::string> newest_anywhere() const;
  std::map<std::string, std::string> kept_beside() const;
  Status find_last_times(bool resumed);
  void add_found(const std::set<std::string>& whole, const std::map<std::string, core::NamesOfRanks>& handed_over);
  bool keep_aside(const std::string& time);
  bool keep_restart_points();
};

}  // namespace forebay::drain
