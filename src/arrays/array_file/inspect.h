// Looking into files of arrays: whether their bytes are what was written, and how two of them differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrays/array_file/description.h"

namespace forebay::array_file {

// The bytes of the damaged pieces of an array; nothing where all are whole.
struct Damage {
  std::string location, array;
  std::vector<std::uint64_t> first_bytes;  // of each damaged piece
};
enum class Where {
  everywhere,
  at_holes,  // pieces that have one: nobody wrote there; without any it takes 0.04 ms a MB in tmpfs, on disks nothing
};
// Reads the arrays of a file that describe() has described.
Result<std::vector<Damage>> verify(const std::string& path, const Description& description,
                                   Where where = Where::everywhere);

// Whether HDF5 programs find what describe() has found: every object of the file opens, and a grid has what VTK needs
// beside its arrays. Code::lost names the object that does not.
Status check_objects(const std::string& path, const Description& description);

// Two files' differing statements about themselves: step, time or mesh.
struct HeadDifference {
  std::string what, here, there;
};
std::vector<HeadDifference> compare_heads(const Description& description, const Description& other);

struct Difference {
  std::string location, array;
  std::string why_not;     // not empty: they cannot be compared, because ...
  double largest = 0;      // of |a - b|; infinite where one is no number and the other is
  std::uint64_t item = 0;  // where that is, counted from 1
  std::uint64_t different_values = 0;
};
// Every array of either file.
Result<std::vector<Difference>> compare(const std::string& path, const Description& description,
                                        const std::string& other_path, const Description& other);

}  // namespace forebay::array_file
