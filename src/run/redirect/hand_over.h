// What the program removes from a time: the agent, which looks at times from time to time, may not have come to it yet.
// So the newest complete time is kept by the ranks themselves, which know when all of them have left a newer one.
#pragma once

#include "run/redirect/path.h"
#include "run/redirect/state.h"

namespace forebay::redirect {

// To be called before `path`, located at `location`, is unlinked. Where it is a file of a time of this rank that may be
// the newest complete one, leaves a link to it. Changes nothing that the program can see, errno included.
COLD void hand_over(int directory, const char* path, const Location& location);

// To be called when the directory `path` is to be removed with all that is in it. True: it was a time that may be the
// newest complete one, and is gone as a whole, which takes one call to the kernel where its files take dozens. The rank
// frees it later, and the agent finds it when it looks; so not while it does.
COLD bool move_over(const char* path);

// To be called when the directory `path`, located at `location`, was to be made: is it a time, and was `made`, or is
// newer and has been there (a child of the rank's may have made it), the rank has left its last one; what all have left
// behind is freed. errno stays.
COLD void note_begun(int directory, const char* path, const Location& location, bool made);
// Something of the case could not be written: its path there begins with a slash. The time that it belongs to, and the
// one that this process has begun last, may be cut.
COLD void note_cut(const char* path);
// To be called when the directory at `location` was removed: is it a time, frees what was handed over of older ones.
COLD void free_handed_over(const Location& location);
// To be called before a file is opened for writing: does so where other ranks have left the last time since. So the new
// file gets the memory of the old one while that is still in the processor's caches, and one time more is held than
// there is without forebay.
COLD void free_left_behind();
inline void make_room() {
  if (state.flags.has_handed_over.load(std::memory_order_relaxed)) [[unlikely]]
    free_left_behind();
}

}  // namespace forebay::redirect
