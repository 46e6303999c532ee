// Observation takes in what the program does, as the run's witnesses (run.h) tell it. Private to the room.
#pragma once

#include <string>
#include <vector>

#include "run/drain/run.h"
#include "run/drain/watch.h"

namespace forebay::drain {

class RestartPoints;

class Observation {
 public:
  Observation(Run& run, Work& work, RestartPoints& points) : run_(run), work_(work), points_(points) {}

  // Takes in what the program did since.
  Status look();
  void note_failed_writes();
  void pool_ran_full();
  // This name is given by the run from now on, not by the program; empty: none.
  void note_being_put(const std::string& path) { being_put_ = path; }

 private:
  void note_time_of_script(const Event& event, const openfoam::TimePath& time);
  Result<std::vector<Event>> read_events();
  void handle(const Event& event);
  // Handles an event in a time that is carried as a whole.
  void handle_time(const Event& event, const openfoam::TimePath& time);
  bool is_carried_whole(const openfoam::TimePath& time) const;
  void follow_rank_link(const std::string& name);
  void events_lost();

  Run& run_;
  Work& work_;
  RestartPoints& points_;
  std::string being_put_ = {};
};

}  // namespace forebay::drain
