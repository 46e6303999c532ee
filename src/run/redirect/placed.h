// Placed files: where ranks share directories, a rank's new file is made in the pool of its own socket, under a name of
// its own, and the tree gets a link to it. The link is shown as the file (Link::pool), and moves as a file's name does.
//
// The one who takes the last name away removes the file. Somebody else may move the name in the same moment, and it
// must not lose its file. So the link itself is first moved, or linked, to a hidden name that nobody else knows; only
// then does the library look where it leads.
#pragma once

#include "run/redirect/link.h"

namespace forebay::redirect {

// The text of a link to a placed file.
bool is_placed(const char* text);
// True when the name is such a link; `text` is then its text.
bool leads_to_placed(const Location& location, Path& text);

// Makes and opens a new file. Flags have O_CREAT. -1 where it is to be opened in the usual way, which also says what is
// wrong; errno is then as before.
COLD int open_placed(const Location& location, int flags, mode_t mode);
// Removes a name that was seen to be a placed file's. 0 or a negative errno.
COLD int unlink_placed(const Location& location);
// rename(2) over a name that was seen to be a placed file's. 0 or a negative errno.
COLD int rename_over_placed(const Location& source, const Location& target);
// A second name of the placed file `text`. 0 or a negative errno.
COLD int link_placed(const Path& text, const Location& target);

}  // namespace forebay::redirect
