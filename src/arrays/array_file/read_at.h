// Reading from a file of arrays without the HDF5 library.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "arrays/array_file/description.h"

namespace forebay::array_file {

// Reads all of `bytes`; Code::lost where the file ends before.
Status read_at(int file, std::uint64_t offset, std::span<std::byte> bytes, const std::string& path);
// The checksums that the file has of an array.
Result<std::vector<std::uint32_t>> read_checks(int file, const std::string& path, const Array& array);

}  // namespace forebay::array_file
