// Files of arrays as another version of the format would leave them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "arrays/array_file/objects.h"

namespace forebay::array_file {

inline void set_version(const std::string& path, std::uint64_t version) {
  const Handle access = file_access();
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose);
  const Handle attribute(H5Aopen(file.get(), "forebay_version", H5P_DEFAULT), H5Aclose);
  EXPECT_GE(H5Awrite(attribute.get(), H5T_NATIVE_UINT64, &version), 0);
}

}  // namespace forebay::array_file
