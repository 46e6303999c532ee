// Where a directory is that somebody holds open: it may have been renamed, removed or unmounted since.
#pragma once

#include <string>

#include "base/error.h"

namespace forebay {

// The path of an open directory by now, which had the path `before`. ENOENT: it was removed; ENODEV: its mount is not
// seen here any more. Nothing is asked of its file system, so this does not wait for a server.
Result<std::string> present_path(int directory, const std::string& before);

}  // namespace forebay
