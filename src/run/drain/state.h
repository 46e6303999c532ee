// The parts of a Drain. The Run is the lowest. Work has the units under way to the case. RestartPoints tells what a run
// can be started from, frees the rest, and holds files for Work. Observation has what was seen of the program.
// ControlFiles shows it what changes on the case. End brings all to its close. A part knows those below it, and Work
// knows Observation, too. Private to the room.
#pragma once

#include <memory>

#include "run/drain/control_files.h"
#include "run/drain/end.h"
#include "run/drain/observation.h"
#include "run/drain/restart_points.h"
#include "run/drain/run.h"
#include "run/drain/work.h"

namespace forebay::drain {

struct Drain::State {
  State(const DrainRequest& request, Clock& clock) : run(request, clock) {}

  Run run;
  Observation seen{run, points, work};
  RestartPoints points{run, work};
  End end{run, seen, points, work};
  // Last, so that the mover's threads end before anything that they use.
  Work work{run, seen, points.held()};
  ControlFiles controls{run, seen, work};
};

std::unique_ptr<Mover> make_mover(Run& run, Temporaries& temporaries);

}  // namespace forebay::drain
