// forebay inspect where HDF5 was not there when the command was built.
#include "cli/commands.h"

namespace forebay::cli {

void add_inspect(CLI::App& app, int& exit_status) {
  auto* command = app.add_subcommand("inspect", "list, verify and compare checkpoints (not built: no HDF5)");
  command->allow_extras();
  command->callback([&exit_status] {
    exit_status = failed({Code::bad_input, "built without HDF5: this command cannot read checkpoints", "", 0,
                          "install HDF5 and libdeflate, and build again"});
  });
}

}  // namespace forebay::cli
