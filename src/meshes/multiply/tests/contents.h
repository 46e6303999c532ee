// Arrays of a file of a grid, read back.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "arrays/array_file/array_file.h"
#include "arrays/array_file/inspect.h"
#include "meshes/mesh/tests/meshes.h"

namespace forebay::multiply::test {

using mesh::test::need;

// A whole file, every byte of which fits its checksum.
class Contents {
 public:
  explicit Contents(const std::string& path)
      : description_(need(array_file::describe(path))), bytes_(need(read_file(path))) {
    EXPECT_TRUE(need(array_file::verify(path, description_)).empty()) << path;
  }
  template <class T>
  std::vector<T> array(std::string_view location, std::string_view name) const {
    const array_file::Array* found = description_.array(location, name);
    if (found == nullptr || found->bytes() % sizeof(T) != 0) {
      ADD_FAILURE() << "no array " << name << " on " << location;
      return {};
    }
    std::vector<T> values(found->bytes() / sizeof(T));
    std::memcpy(values.data(), bytes_.data() + found->offset, found->bytes());
    return values;
  }

 private:
  array_file::Description description_;
  std::string bytes_;
};

}  // namespace forebay::multiply::test
