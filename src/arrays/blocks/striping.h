// Over how many servers of a Lustre file system the files of a directory are spread.
#pragma once

#include <string>

#include "arrays/blocks/method.h"

namespace forebay::blocks {

// Where the hints have striping_factor or striping_unit and there is an `lfs` command, new files in `directory` get
// that layout: it is fixed when a file is made, before MPI-IO could ask for it. Without `lfs` there is nothing to do.
Status set_striping(const std::string& directory, const Options& options);

}  // namespace forebay::blocks
