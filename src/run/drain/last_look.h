// The last look at the times of all ranks of this node, and what it says. It reads no files. Private to the room.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "run/core/decide.h"
#include "run/drain/look.h"

namespace forebay::drain {

class LastLook {
 public:
  LastLook() = default;
  // `written`: names of states that the run has written.
  LastLook(std::map<int, RankTimesFound> found, const core::Names& written, const core::Settings& settings);

  const std::map<int, RankTimesFound>& found() const { return found_; }
  const core::States& states() const { return states_; }
  bool has_threads() const { return has_threads_; }
  // null: no restartable state is of this time.
  const core::StateId* restartable_of(const std::string& time) const;

  // All ranks have left it, and what they have of it is whole, though a file may still be open.
  bool is_complete_but_open(const std::string& time) const;
  // Times that all ranks have left and have whole, and of which the program has purged nothing, oldest first.
  std::vector<std::string> complete_in_tree() const;
  // All times, in the order in which they were begun.
  std::vector<std::string> begun() const;
  // The program has purged nothing of it.
  bool stands_in_tree(const std::string& time) const;
  // The states of core::last_states, newest first.
  std::vector<core::StateId> last_states() const;
  // Their times and those that their meshes lie in, oldest first.
  std::vector<std::string> last_times() const;
  // The files of the newest line of this time.
  TimeFiles files_of(int rank, const std::string& time) const;
  // Purged lines that have no file.
  std::map<int, std::set<core::LineId>> purged_and_empty() const;

 private:
  bool is_complete(const std::string& time) const;

  std::map<int, RankTimesFound> found_ = {};
  core::States states_ = {};
  bool has_threads_ = false;
  std::size_t states_kept_ = 1;
};

}  // namespace forebay::drain
