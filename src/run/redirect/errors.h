// Calls that fail because a pool has no room left, or by an error of its device, are noted for the agent (WriteErrors
// in run/contract/pages.h): many programs ignore such errors and end as if all were well. All of this runs after a
// failure only.
#pragma once

#include "run/redirect/path.h"
#include "run/redirect/state.h"
#include "run/redirect/system.h"

namespace forebay::redirect {

// True for the errors that are noted.
inline bool is_noted(int error) {
  return error == ENOSPC || error == EDQUOT || error == EIO;
}

// Each does nothing unless `error` is one of these and what failed lies in the tree. errno stays.
COLD void note_failed(int fd, int error);
// A call that makes, moves or cuts a name, or opens a file for writing.
COLD void note_failed(const Location& location, int error);
// A mapping of a file.
COLD void note_failed(const void* address, int error);
// The same for a file of which only `path`, by the kernel's name, is known any more.
COLD void note_failed_at(Path& path, int error);
// An error that a stream of the file remembers, but not which.
COLD void note_failed_for_some_reason(int fd);

// The kernel's name of an open file; false where it does not lie in the tree.
COLD bool name_in_tree(int fd, Path& path);

// `result`, which is negative, with errno, when the call failed.
template <class Result>
Result noting(const Location& location, Result result) {
  if (result < 0) [[unlikely]]
    note_failed(location, errno);
  return result;
}

}  // namespace forebay::redirect
