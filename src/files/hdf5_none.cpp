#include "files/files.h"
#include "run/cli/commands.h"

namespace forebay::files {
namespace {

int not_built(const std::string& what) {
  return cli::failed({Code::bad_input, "this forebay is built without files of arrays:", what, 0, FOREBAY_HDF5_ADVICE});
}

}  // namespace

int inspect_checkpoint(const cli::InspectOptions& options) {
  return not_built(options.path);
}

int carry(const std::vector<std::string>& directories) {
  return not_built(directories.front());
}

}  // namespace forebay::files
