// Tells the kind of a file or a directory, if it is forebay's.
#include "files/files.h"

namespace forebay::files {

int inspect(const cli::InspectOptions& options) {
  if (const auto status = inspect_trajectory(options)) return *status;
  return inspect_checkpoint(options);
}

}  // namespace forebay::files
