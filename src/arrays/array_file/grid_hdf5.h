// The parts of VTKHDF that are no arrays: groups, attributes, counts.
#pragma once

#include <hdf5.h>

#include <optional>
#include <string>

#include "arrays/array_file/description.h"

namespace forebay::array_file {

bool put_grid(hid_t file, const Description& description);
// The first of them that is not as VTK needs it; nothing where all are.
std::optional<std::string> unfit_for_vtk(hid_t file, const Description& description);

}  // namespace forebay::array_file
