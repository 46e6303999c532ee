// The HDF5 side of a file of arrays: laying it out, and finding everything again.
#pragma once

#include <string>

#include "arrays/description.h"

namespace forebay::arrays {

// Makes a new file (refused where the name exists) with room for all arrays and their checksums, and fills in where
// each lies. What the arrays hold is then written to those offsets, by whoever.
Status lay_out(const std::string& path, Description& description);

// Believed only when its own checksum fits and every array lies within the file, contiguous.
Result<Description> describe(const std::string& path);

}  // namespace forebay::arrays
