// The HDF5 side of a file of arrays: laying it out, and finding everything again.
#pragma once

#include <string>

#include "arrays/array_file/description.h"

namespace forebay::array_file {

// Makes an open file one with room for all arrays and their checksums, whatever was in it, and fills in where each
// lies. The arrays' values are then written to those offsets, by whoever.
Status lay_out(int fd, const std::string& path_for_errors, Description& description);
// Does the same in a new file (refused where the name exists). The file is removed where this fails.
Status lay_out(const std::string& path, Description& description);

// Reads a description. It is believed only when its own checksum fits and every array lies within the file, contiguous.
Result<Description> describe(const std::string& path);

}  // namespace forebay::array_file
