#include "files/files.h"
#include "run/cli/commands.h"

namespace forebay::files {

int multiply(const cli::MeshOptions&) {
  return cli::failed(
      {Code::bad_input, "this forebay is built without meshes:", "forebay mesh", 0, FOREBAY_MESH_ADVICE});
}

}  // namespace forebay::files
