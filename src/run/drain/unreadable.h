// Files that this user may not read. Private to the room.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "run/drain/jobs.h"
#include "run/drain/run.h"

namespace forebay::drain {

class Unreadable {
 public:
  Unreadable(Run& run, Work& work) : run_(run), work_(work) {}

  void note(const std::string& path, const Error& error, std::optional<Code> code);
  bool set_aside(const Job& job, const Error& error);
  // Perhaps it was so only for a while.
  void forget_messages() { messages_.clear(); }
  bool is_any() const { return !messages_.empty(); }
  bool contains(const std::string& path) const { return messages_.contains(path); }
  // The time holds such files: its others are carried one by one.
  bool is_in_pieces(int rank, const std::string& time) const { return in_pieces_.contains({rank, time}); }

 private:
  Run& run_;
  Work& work_;
  std::map<std::string, std::string> messages_ = {};  // what was said of it, by path
  RankTimes in_pieces_ = {};
};

}  // namespace forebay::drain
