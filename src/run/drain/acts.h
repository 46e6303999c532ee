// Changes that a program makes to names that the case already has. Private to the room.
#pragma once

#include <map>
#include <set>
#include <string>

#include "run/drain/run.h"

namespace forebay::drain {

struct Acts {
  Run& run;
  Work& work;
  End& end;

  std::set<std::string> removed_in_flight = {};                // by the program, while on their way to the case
  std::map<std::string, std::set<std::string>> borrowed = {};  // input -> names that stand for its content
  std::set<std::string> ways = {};  // names that must be removed before others can be carried

  // Notes that the program removed `path` with all that is below it. The amount is that of the files which had been
  // carried.
  Amount removed_by_program(const std::string& path);
  void note_removal_in_flight(const std::string& path);
  void catch_up_removal(const std::string& path);
  void note_renamed_input(const std::string& origin, const std::string& path);
  bool free_borrowers(const std::string& origin);
  std::string in_the_way(const std::string& path) const;
  bool make_way();
  void note_written_inputs();
};

}  // namespace forebay::drain
