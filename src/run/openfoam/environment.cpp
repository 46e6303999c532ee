// OpenFOAM's programs need this of the shell that starts them.
#include <cstdlib>

#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {

std::string lacking_environment() {
  const char* project = std::getenv("WM_PROJECT_DIR");
  const bool set = project != nullptr && *project != '\0';
  if (set && name_exists(join(project, "etc/controlDict"))) return {};
  return std::string("OpenFOAM is not set up in this shell: ") +
         (set ? "there is no etc/controlDict below WM_PROJECT_DIR" : "WM_PROJECT_DIR is not set") +
         "; source the etc/bashrc of your OpenFOAM, or for Debian's packages say `export "
         "WM_PROJECT_DIR=/usr/share/openfoam`";
}

}  // namespace forebay::openfoam
