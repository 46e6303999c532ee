// What the program removes from a time: the agent, which keeps a time's files when they are closed, may not have come
// to them yet.
#pragma once

#include "redirect/path.h"

namespace forebay::redirect {

// As OpenFOAM writes numbers; the agent, which knows better, throws away what is no time.
bool is_time_name(const char* name, size_t size);

// To be called before `path`, located at `place`, is unlinked. Where it is a file of a time of this rank that the agent
// has not kept, leaves a link to it for the agent. Changes nothing that the program can see, errno included.
COLD void hand_over(int directory, const char* path, const Place& place);

}  // namespace forebay::redirect
