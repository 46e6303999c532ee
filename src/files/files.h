// files: the commands on files of arrays and on trajectories that were kept, which take nothing but their options.
//
// Promises: each prints its result, or its error, and returns the exit status (docs/exit-codes.md).
// Must not know: how options are written.
#pragma once

#include <optional>

#include "run/cli/elsewhere.h"

namespace forebay::files {

int inspect(const cli::InspectOptions& options);
int inspect_checkpoint(const cli::InspectOptions& options);
// nullopt where no trajectory is kept there.
std::optional<int> inspect_trajectory(const cli::InspectOptions& options);
int trajectory(const cli::TrajectoryOptions& options);
int multiply(const cli::MeshOptions& options);
int carry(const std::vector<std::string>& directories);

}  // namespace forebay::files
