// The output times of a case as they lie on disk, whoever wrote them: decomposed, collated or in one piece.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/base.h"
#include "run/openfoam/cut_file.h"

namespace forebay::openfoam {

// One time: the names of its files on each rank, relative to the time's directory. Rank -1: a case in one piece.
using RankNames = std::map<int, std::set<std::string>>;

struct CaseTimes {
  // A directory of the case that holds times of these ranks; of a group of ranks, where the case is collated.
  struct Holder {
    std::string name;
    int first = 0, last = 0;
    bool group = false;
  };
  std::vector<Holder> holders;             // ranks' own directories behind those of groups
  std::vector<int> ranks;                  // all of the case, in order; {-1}: in one piece
  std::map<std::string, RankNames> times;  // each with an entry for every rank, which is empty where the rank has none
  // The time that the run on this case started from: what controlDict says (startFrom, startTime), where it is there
  // and not the latest; else the oldest. nullopt without times.
  std::optional<std::string> start;
};

// Reads directories only. A time's directory may hold links to directories of the case (decomposePar makes `uniform`
// one); a link that leads elsewhere is a name. Where ranks have directories, times of the undecomposed case are left
// out. A rank that has a time in a directory of its own reads that, and not its group's.
Result<CaseTimes> times_of_case(const std::string& case_path);

// How the files of a time end, by their names (with ".gz") on each rank; of all, or of those whose names are `wanted`.
std::map<int, Endings> endings_of(const std::string& case_path, const CaseTimes& times, const std::string& time,
                                  const std::function<bool(const std::string& name)>& wanted);

// Directories of the case that hold parts of the time, relative to it: "processor0/0.1", "processors4/0.1", "0.1".
std::vector<std::string> directories_of_time(const std::string& case_path, const CaseTimes& times,
                                             const std::string& time);

// Names of one time's directory: all files below it, and links, of which none is followed. Missing: no names.
Result<std::set<std::string>> names_of_time(const std::string& directory);

// The time from which the solver of the case will start: of its ranks where `decomposed`, else of the case in one
// piece. nullopt where it is not there.
std::optional<std::string> start_time(const std::string& case_path, bool decomposed);
// Which of `times` a solver starts from, given the entries startFrom and startTime of its controlDict (empty: absent);
// nullopt where that one is not there.
std::optional<std::string> start_time(const std::string& start_from, const std::string& start_time_value,
                                      const std::vector<std::string>& times);

}  // namespace forebay::openfoam
