// The last steps of a file of arrays whose data is written: its checksums, the disk, and then its name.
#pragma once

#include <string>

#include "arrays/arrays.h"

namespace forebay::blocks {

using arrays::Checks;

// Writes the checksums into `temporary`, which is open for writing as `file`, waits for the disk, and renames it to
// `path`: what stood there before is replaced by a whole file, or stays. `sidecar` goes into `path`.json. Needs no MPI.
Status publish(int file, const std::string& temporary, const std::string& path, const arrays::Description& description,
               const Checks& checks, const std::string& sidecar);

// What a sidecar tells: host, date, ranks and method, which are no business of the file.
std::string sidecar_of(int ranks, std::string_view method);

}  // namespace forebay::blocks
