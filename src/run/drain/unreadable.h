// Files that this user may not read. Private to the room.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "run/drain/jobs.h"
#include "run/drain/run.h"

namespace forebay::drain {

struct Unreadable {
  Run& run;
  Work& work;
  End& end;

  std::map<std::string, std::string> messages = {};  // what was said of it, by path
  RankTimes in_pieces = {};                          // times that hold such files: the others are carried one by one

  void note(const std::string& path, const Error& error, std::optional<Code> code);
  bool set_aside(const Job& job, const Error& error);
};

}  // namespace forebay::drain
