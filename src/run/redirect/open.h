// Opening, for the entries that open in other ways than open(2).
#pragma once

#include "run/redirect/path.h"

namespace forebay::redirect {

// openat(2) through the library: -1 and errno on failure. The first takes what locate() returned.
HOT int open_location(const Location& location, int flags, mode_t mode);
HOT int open_redirected(int directory, const char* path, int flags, mode_t mode);

}  // namespace forebay::redirect
