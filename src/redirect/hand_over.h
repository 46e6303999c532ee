// What the program removes from a time: the agent, which looks at times from time to time, may not have come to it yet.
// So the newest complete time is kept by the ranks themselves, which know when all of them have left a newer one.
#pragma once

#include "redirect/path.h"

namespace forebay::redirect {

// As OpenFOAM writes numbers; the agent, which knows better, throws away what is no time.
bool is_time_name(const char* name, size_t size);

// To be called before `path`, located at `place`, is unlinked. Where it is a file of a time of this rank that may be
// the newest complete one, leaves a link to it. Changes nothing that the program can see, errno included.
COLD void hand_over(int directory, const char* path, const Place& place);

// To be called when the directory `path`, located at `place`, was to be made: is it a time, and was `made`, or is newer
// and has been there (a child of the rank's may have made it), the rank has left its last one. errno stays.
COLD void note_begun(int directory, const char* path, const Place& place, bool made);
// To be called when the directory at `place` was removed: is it a time, frees what was handed over of older ones.
COLD void free_handed_over(const Place& place);

}  // namespace forebay::redirect
