// forebay inspect: what may be asked of it.
#include <memory>

#include "run/cli/commands.h"
#include "run/cli/elsewhere.h"
#include "run/cli/interface.h"

namespace forebay::cli {

Declared<InspectOptions> declare_inspect(CLI::App& app) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* command =
      app.add_subcommand("inspect", "say what a checkpoint or a trajectory holds, verify it, compare checkpoints");
  command->add_option("FILE", options->path, "a checkpoint, or the directory of a trajectory that was kept")
      ->required()
      ->type_name("FILE");
  command->add_option("OTHER", options->other, "another checkpoint, to compare it with")->type_name("FILE");
  command->add_flag("--no-verify", options->no_verify, "do not read arrays or states to check them");
  command->add_flag("--json", options->json, "print JSON");
  command->footer(footer(
      {"forebay inspect checkpoint.h5", "forebay inspect checkpoint.h5 restart/checkpoint.h5",
       "forebay inspect kept/wake-0"},
      {"Every object is opened as HDF5 programs do, and every byte of the arrays compared with its checksum. Exits "
       "with 4 where either is damaged, with 1 where the two differ: in step, time, mesh or arrays. Of a "
       "trajectory it says and verifies what `forebay trajectory verify` does, and ends like that."}));
  return {command, options};
}

void add_inspect(CLI::App& app, int& exit_status) {
  carry_out_elsewhere(declare_inspect(app), exit_status);
}

}  // namespace forebay::cli
