// The mapping of paths. A *virtual* path is one that the program sees (in the case); a *kernel* path is where it lies
// (in the tree or a pool).
#pragma once

#include "run/redirect/outside.h"
#include "run/redirect/state.h"
#include "run/redirect/system.h"

namespace forebay::redirect {

enum class Where : unsigned char {
  outside,  // surely not in the tree: nothing is to be done
  perhaps,  // relative to a descriptor or a working directory that may lie in the tree
  inside,   // in the tree
};

// The directory and the path for a system call. `path` may point into the caller's buffer or be the program's own text.
struct Location {
  int directory;
  const char* path;
  Where where;

  bool outside() const { return where == Where::outside; }
};

// Up to where genuine links are looked for that would lead the kernel astray (into the case instead of the tree).
enum class Reach : unsigned char {
  parent,  // all but the last component: the caller looks at the last one, or does not follow it
  whole,
};

// Maps a path. Never fails: what cannot be mapped is returned as it is, and the kernel says what is wrong with it.
HOT Location locate(int directory, const char* path, Path& buffer, Reach reach = Reach::parent);
// The same for a path of which is_outside() was false.
HOT Location locate_near(int directory, const char* path, Path& buffer, Reach reach = Reach::parent);

// The result of locate(), with the buffer that its path may point into: so it stays where it was made.
struct Located : Location {
  Path buffer;

  Located(int from, const char* text, Reach reach = Reach::parent) : Location{} {
    Location::operator=(locate(from, text, buffer, reach));
  }
  Located(const Located&) = delete;
  Located& operator=(const Located&) = delete;
};

// The location of a path of the case without the mount over the case, beside a namespace. The kernel refuses a rename
// or hard link from one mount to another, even where both are of one file system. False where there is none.
bool below_mount(Location& location, Path& buffer);
// A kernel path becomes the virtual one, in place. True when it lies in the case, the tree or a pool.
bool to_virtual(Path& path);
// The kernel path of an absolute virtual one. True when it lies in the case.
bool to_kernel(const Path& path, Path& out);
// The absolute virtual text of a path: nothing resolved. False where it cannot be known.
bool absolute(int directory, const char* path, Path& out);
// The virtual path with all links and dots resolved, the last component too when `last`, which may be missing when
// `may_miss`. 0 or a negative errno; then `out` is a path that meets the same obstacle in the kernel.
int resolve(const char* from, Path& out, bool last, bool may_miss);

// True when the location really lies in the case; answers `perhaps` with the help of /proc.
bool really_inside(const Location& location);

}  // namespace forebay::redirect
