// Files that get their names together: all of them, or none.
#pragma once

#include <span>
#include <string>

#include "base/base.h"

namespace forebay::multiply {

// A file that is whole and on the disk, but for its name.
struct Unnamed {
  std::string temporary, path;  // in one directory
};

// One for each path, so that what a killed program left is found by the next one.
std::string temporary_of(const std::string& path);

// ok where a file may get this name: its directory is there, the name is free (or `replace`), nobody else writes it. A
// file that a killed program had begun under this name is removed.
Status make_way(const std::string& path, bool replace);
tl::unexpected<Error> in_use(const std::string& path);

// Gives the names in their order. When one fails, those before it have their temporary names again, or, where they had
// replaced a file, are gone and that file is back. Only where the file system or the kernel makes no hard link of it,
// what was replaced does not come back.
Status give_names(std::span<const Unnamed> files, bool replace);

}  // namespace forebay::multiply
