// The times of this rank, as it begins and purges them: what the agent cannot see afterwards is written down in the
// ranks' page (run/contract/pages.h), and a purge becomes a rename into the directory that only the agent frees. Here
// nothing is decided, and nothing changes that the program can see, errno included.
#pragma once

#include "run/redirect/path.h"
#include "run/redirect/state.h"

namespace forebay::redirect {

// To be called when the directory `path`, located at `location`, was made. A line begins if it is a time of this rank.
COLD void note_time_made(int directory, const char* path, const Location& location);
// To be called before a file is opened for writing. In a time that is not the newest line's a line begins; and a state
// is counted, or a mesh noted.
void note_time_written(const Location& location);
// Something of the case could not be written: its path there begins with a slash. The lines of the time that it belongs
// to, and the newest, may be cut.
COLD void note_cut(const char* path);

// The kernel's name of something that was purged, "<keep>/0.1,17,9,3,0,1732871234/p", becomes what the program called
// it. False: it is not such a name.
COLD bool name_before_purge(Path& path);

// The caller calls it in place of unlinking `path`, located at `location`. True: it was a file of a time, or a link
// that stands for one, and is gone.
COLD bool purge_file(int directory, const char* path, const Location& location);
// To be called in place of removing the directory `path` with all that is in it. True: it was a time, and is gone.
COLD bool purge_time(const char* path);
// To be called when the directory at `location` was removed: a purge may have come to its end.
COLD void note_directory_removed(const Location& location);

}  // namespace forebay::redirect
