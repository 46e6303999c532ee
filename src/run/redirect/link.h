// The meaning of a link in the tree, and copy-up.
#pragma once

#include "run/redirect/path.h"
#include "run/redirect/times.h"

namespace forebay::redirect {

enum class Link : unsigned char {
  none,     // not a link, or not there
  staged,   // stands for an untouched input; the text is the input's lower path
  pool,     // leads into a pool: shown as what it leads to
  genuine,  // a link of the case
};

Link classify(const char* text);
// Reads a link without following it. `text` is set for every kind but none.
Link link_at(int directory, const char* path, Path& text);

// The path to use for a call that follows links: a genuine last component is resolved in the case, not by the kernel.
// True when that made `location` another one.
bool follow(Location& location, Path& buffer);
inline bool follow(Located& location) {
  return follow(location, location.buffer);
}
// Makes sure that `location` is not a staged link, for a call that changes the file itself: follows genuine links when
// `following`, and copies a staged link up. `discard`: the content is about to be cut to nothing. 0 or a negative
// errno.
int make_own(Location& location, Path& buffer, bool following, bool discard = false);

// To read from: without following, a link that only stands for something else is followed by the kernel.
struct Seen : Located {
  bool through;  // to be followed by the kernel

  Seen(int from, const char* text, bool following);
};

// Replaces the staged link, whose text is `lower`, by a copy. Safe when many do it at once. 0 or a negative errno.
int copy_up(int directory, const char* path, const char* lower, bool discard);

// Moves a regular file or a link between file systems of the tree; -EXDEV for anything else. 0 or a negative errno.
int move_across(const Location& source, const Location& target, unsigned flags);

// Waits while the gate is closed.
void wait_at_gate(const Location& location);
inline void pass_gate(const Location& location) {
  if (state.gate != nullptr && state.gate->load(std::memory_order_relaxed) != 0) [[unlikely]]
    wait_at_gate(location);
  note_time_written(location);
}

}  // namespace forebay::redirect
