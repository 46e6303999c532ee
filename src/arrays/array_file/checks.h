// The checksums of a file of arrays, written when its arrays are.
#pragma once

#include <string>
#include <vector>

#include "arrays/array_file/description.h"
#include "arrays/array_file/pieces.h"

namespace forebay::array_file {

// The parts of each array of a description, in its order; those of one array in any.
using Checks = std::vector<std::vector<PartCheck>>;

// Into an open file that lay_out() has made. The checksum of its content: of the description's and of all these.
Result<std::uint32_t> write_checks(int file, const std::string& path_for_errors, const Description& description,
                                   const Checks& checks);
// The checksum of a file that describe() has described, by the checksums that it has.
Result<std::uint32_t> content_checksum(const std::string& path, const Description& description);

}  // namespace forebay::array_file
