// Changes that a program makes to names that the case already has. Private to the room.
#pragma once

#include <map>
#include <set>
#include <string>

#include "run/drain/run.h"

namespace forebay::drain {

class Acts {
 public:
  Acts(Run& run, Work& work) : run_(run), work_(work) {}

  // Notes that the program removed `path` with all that is below it. The amount is that of the files which had been
  // carried.
  Amount removed_by_program(const std::string& path);
  void catch_up_removal(const std::string& path);
  void note_renamed_input(const std::string& origin, const std::string& path);
  bool free_borrowers(const std::string& origin);
  std::string in_the_way(const std::string& path) const;
  bool make_way();
  // Files that the drain knows below `path`, if they still are what it knows, then the directories that are empty.
  bool remove_from_case(const std::string& path,
                        std::string_view reason = "the program removed a file, the case still has it");
  // This name goes at the end, when all else is on the case.
  void note_way(const std::string& way) { ways_.insert(way); }
  // Nothing is on its way any more.
  void forget_removals_in_flight() { removed_in_flight_.clear(); }
  // Other names stand for the content of this input.
  bool is_borrowed(const std::string& path) const { return borrowed_.contains(path); }
  void note_written_inputs();

 private:
  void note_removal_in_flight(const std::string& path);

  Run& run_;
  Work& work_;
  std::set<std::string> removed_in_flight_ = {};                // by the program, while on their way to the case
  std::map<std::string, std::set<std::string>> borrowed_ = {};  // input -> names that stand for its content
  std::set<std::string> ways_ = {};  // names that must be removed before others can be carried
};

}  // namespace forebay::drain
