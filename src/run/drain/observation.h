// Observation: what was seen of the program. Private to the room.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/drain/run.h"
#include "run/drain/watch.h"

namespace forebay::drain {

class RestartPoints;

struct Observation {
  Run& run;
  Work& work;
  RestartPoints& points;

  std::string being_put = {};  // what add_directory() is giving its name: not the program's act

  // observation.cpp
  Status look();
  void pool_ran_full();
  void note_failed_writes();
  void note_time_of_script(const Event& event, const openfoam::TimePath& time);

  // events.cpp
  Result<std::vector<Event>> read_events();
  void handle(const Event& event);
  // Handles an event in a time that is carried as a whole.
  void handle_time(const Event& event, const openfoam::TimePath& time);
  bool is_carried_whole(const openfoam::TimePath& time) const;
  void follow_rank_link(const std::string& name);
  void events_lost();
};

}  // namespace forebay::drain
