// The parts of VTKHDF that are no arrays: groups, attributes, counts.
#pragma once

#include <hdf5.h>

#include "arrays/description.h"

namespace forebay::arrays {

bool put_grid(hid_t file, const Description& description);

}  // namespace forebay::arrays
