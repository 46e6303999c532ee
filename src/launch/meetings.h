// Where the processes of a run meet on a node, /tmp/forebay-<uid>/<run>-<host> (protocol.h). The agent removes its own;
// those of runs that were killed as a whole stay.
#pragma once

#include <chrono>

namespace forebay::launch {

// Removes those of this node that nobody holds locked, whose run has no process left, and that nothing was made in for
// `age`: a run that begins makes the directory a moment before it locks it. Returns how many.
int remove_stale_meetings(std::chrono::seconds age = std::chrono::minutes(1));

}  // namespace forebay::launch
