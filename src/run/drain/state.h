// The parts of a Drain, from the lowest to the highest. A part knows those below it. The Run is what all know. Look and
// HeldStates are the times of ranks, and files of them under names that nobody else takes away. Work has what waits for
// the case and the units under way to it. RestartPoints tells what a run can be started from, and frees the rest.
// Observation takes in what the program does. ControlFiles shows it what changes on the case. End brings all to its
// close. Jobs in the mover's threads use nothing above Work: all else is gone before these threads end. Private to the
// room.
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
  Look looks{run};
  HeldStates held{run, looks};
  Work work{run, looks, held};
  RestartPoints points{run, looks, held, work};
  Observation seen{run, work, points};
  ControlFiles controls{run, work};
  End end{run, work, points, seen};
};

std::unique_ptr<Mover> make_mover(Run& run, Temporaries& temporaries);

}  // namespace forebay::drain
