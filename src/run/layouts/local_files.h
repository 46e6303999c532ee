// The builders of units read local files by these; private to this room.
#pragma once

#include <string>
#include <vector>

#include "run/layouts/layouts.h"

namespace forebay::layouts {

// A regular file whole, or a symbolic link, under the name `path`. Anything else is an error.
Result<OutputFile> whole_file(const std::string& local_path, const std::string& path);

// `directory` itself ("") and all directories below it, parents first, links not followed.
Result<std::vector<OutputDirectory>> directories_below(const std::string& directory);

std::int64_t modification_time(const struct stat& status);

}  // namespace forebay::layouts
