// The last steps of a file of arrays whose data is written: its checksums, the disk, and then its name.
#pragma once

#include <string>

#include "arrays/array_file/array_file.h"
#include "arrays/carry/sidecar.h"

namespace forebay::carry {

using array_file::Checks;

enum class Verify {
  written,    // checksums of what was handed to the file system
  no_hole,    // and nothing is missing of it, as far as the file system tells where nobody has written
  read_back,  // and every array is read again, by this process, before the file gets its name
};

// Writes the checksums into `temporary`, which is open for writing as `file`, waits for the disk, and renames it to
// `path`: what stood there before is replaced by a whole file, or stays, and so does its sidecar. A process that is
// killed between the two names leaves the new sidecar beside the old file; it does not fit that (Provenance::content).
// This needs no MPI.
Status publish(int file, const std::string& temporary, const std::string& path,
               const array_file::Description& description, const Checks& checks, Sidecar& sidecar, Verify verify);

}  // namespace forebay::carry
