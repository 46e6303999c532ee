// Things that a command needs and the user may have taken away: open standard descriptors, a stack, files of any size.
// Programs that it starts find the user's own.
#pragma once

#include <functional>

namespace forebay {

// Returns what `work` returns. In its place closed standard descriptors lead nowhere until the process becomes another
// program: else a socket or a pipe gets such a number, and words are written into it. Where the stack is limited to
// less than threads need (`ulimit -s`), it has a stack of its own, and so have the threads that it starts.
int with_own_surroundings(const std::function<int()>& work);

// A file that would be larger than allowed (`ulimit -f`) is an error from now on, not the end of the process; and the
// limit is the highest that may be had. Not for processes that become, or start, the user's program.
void allow_large_files();

}  // namespace forebay
