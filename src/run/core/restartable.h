// core: decides what a run may restart from, and which output times may go.
//
// Output times are not alike. Function objects and properties are written more often than the solver's state, so a time
// that holds only `vorticity` is no restart point, and must not take the place of one. This room tells them apart by
// names alone (the names of the files that a time has on each rank).
// Promises: pure. The same names give the same answer; no files, no clock, no memory.
// Must not know: where files lie, who writes them, how they are carried.
//
// The rule. A file that is cut (run/openfoam/cut_file.h) counts as missing, and a name is taken without its ".gz".
//   - Required are those names of the run's start time that the run has itself written in some whole time. (The 0/ of a
//     tutorial holds fields that its turbulence model never writes.) Until the run has written a state, or a name of
//     the start time at all, every name of the start time is required: writeObjects may write p alone before. Without a
//     start time: the names that the two richest whole times of the run have in common, or those of the only one.
//   - OpenFOAM writes a state when its own interval is over, and then the properties of its function objects, too. In
//     a run that makes no `uniform/time` every whole time counts as a state.
//   - A name is required on every rank where the start time has it on every rank, else on some rank. Files of particle
//     clouds (`lagrangian/`) are only where particles are: they are required on some rank.
//   - A time is restartable when it has all required names. As long as none is known, no time is.
//   - A time supersedes an older one only when it is restartable and has all names of the older one, on each rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "run/contract/contract.h"
#include "run/core/names.h"

namespace forebay::core {

// The names of one time on each rank, relative to the time's directory. Rank -1 is the undecomposed case.
using NamesOfRanks = std::map<int, Names>;

// "U.gz" -> "U".
std::string plain_name(std::string_view name);

// Names that every rank has, and names that at least one has.
struct Spread {
  Names on_every_rank, on_some_rank;
  friend bool operator==(const Spread&, const Spread&) = default;
};
Spread spread_of(const NamesOfRanks& names);

// The names that a run has written in its whole times so far.
class Written {
 public:
  // A time that every rank has written to its end; again when it has got a file since.
  void add(const std::string& time, const NamesOfRanks& names);

 private:
  friend struct Required;
  struct Time {
    std::string time;
    Spread names;
  };
  bool has_state() const { return has_properties_ || !has_state_times_; }

  Names on_some_rank_;
  bool has_state_times_ = false, has_properties_ = false;  // `uniform/time`; what OpenFOAM writes with a state only
  std::vector<Time> richest_;  // the two with the most names, the richest first; of equals the later one first
};

// The names that a time must have to be restartable: `on_every_rank` on each rank, `on_some_rank` on at least one.
struct Required {
  static Required of(const std::optional<Spread>& start, const Written& written);
  // The names for a time that must stay as whole as it began: every rank must have each name that any rank has. Names
  // of clouds must be on some rank only.
  static Required all_of(const Spread& time);

  bool is_known() const { return !on_every_rank.empty() || !on_some_rank.empty(); }
  friend bool operator==(const Required&, const Required&) = default;

  Names on_every_rank, on_some_rank;
};

// Which required names a time lacks, and where.
struct Lacks {
  NamesOfRanks on_rank;     // no entry for a rank that has all
  Names on_all_ranks = {};  // required on some rank only, and on none
  bool nothing() const { return on_rank.empty() && on_all_ranks.empty(); }
};
Lacks lacks(const NamesOfRanks& names, const Required& required);
bool is_restartable(const NamesOfRanks& names, const Required& required);
// Names of `older` that `newer` does not have, and where. Particles may have gone to other ranks.
Lacks lacks(const NamesOfRanks& newer, const NamesOfRanks& older);

// A whole time. Lists of them are in the order in which the times were begun, which need not be that of their values.
struct WholeTime {
  std::string time;
  NamesOfRanks names;
};

void forget_time(std::vector<WholeTime>& times, const std::string& time);

// The newest restartable time, as its index in the list.
std::optional<std::size_t> newest_restartable(const std::vector<WholeTime>& times, const Required& required);

}  // namespace forebay::core
