// files: the commands on files of the HDF5 library, which take nothing but their options.
//
// Promises: each prints its result, or its error, and returns the exit status (docs/exit-codes.md).
// Must not know: how options are written.
#pragma once

#include "cli/elsewhere.h"

namespace forebay::files {

int inspect(const cli::InspectOptions& options);
int multiply(const cli::MeshOptions& options);
int carry(const std::vector<std::string>& directories);

}  // namespace forebay::files
