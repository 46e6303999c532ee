// Commands that need HDF5, where it was not there when the command was built.
#include "cli/commands.h"

namespace forebay::cli {
namespace {

void add_without_hdf5(CLI::App& app, int& exit_status, const std::string& name, const std::string& purpose) {
  auto* command = app.add_subcommand(name, purpose + " (not built: no HDF5)");
  command->allow_extras();
  command->callback([&exit_status] {
    exit_status = failed({Code::bad_input, "built without HDF5: this command cannot read or write its files", "", 0,
                          "install HDF5 and libdeflate, and build again"});
  });
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_status) {
  add_without_hdf5(app, exit_status, "inspect", "list, verify and compare checkpoints");
}

void add_mesh(CLI::App& app, int& exit_status) {
  add_without_hdf5(app, exit_status, "mesh", "refine a coarse mesh into a huge one that ParaView opens");
}

}  // namespace forebay::cli
