// forebay trajectory: what may be asked of it.
#include <memory>

#include "run/cli/commands.h"
#include "run/cli/elsewhere.h"
#include "run/cli/interface.h"

namespace forebay::cli {

Declared<TrajectoryOptions> declare_trajectory(CLI::App& app) {
  const auto options = std::make_shared<TrajectoryOptions>();
  CLI::App* command = app.add_subcommand("trajectory", "list, verify and remove trajectories that were kept");
  command
      ->add_option("ACTION", options->action,
                   "ls: what is there; verify: read every byte, and list what is lost; rm: remove it")
      ->required()
      ->type_name("ls|verify|rm")
      ->check(CLI::IsMember({"ls", "verify", "rm"}).description(""));
  command
      ->add_option("DIR", options->directories,
                   "a pool or shared directory in which trajectories were kept, or the directory of one rank of one, "
                   "NAME-RANK; of a trajectory on several tiers, those of all tiers")
      ->required()
      ->type_name("DIR");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(footer(
      {"forebay trajectory ls kept", "forebay trajectory ls --json kept", "forebay trajectory verify kept",
       "forebay trajectory rm kept/wake-0"},
      {"verify compares all bytes with their checksums, as far as they have some: on tiers that are plain memory "
       "(tmpfs) only headers have, unless the program asked for more. It lists the steps that are lost, of which a "
       "program that opens the trajectory is told, too.",
       "rm removes nothing at all where a process uses one of those that are named, where DIR holds trajectories of "
       "several names (name those that are to go), or where a directory holds anything else. Links are not followed.",
       "Exit status: 0; 2 where DIR is no directory or there is nothing to verify or to remove, and where rm refuses; "
       "4 where steps are lost; 5 for a trajectory of another version of forebay; 7 where a process uses one that is "
       "to "
       "be verified or removed."}));
  return {command, options};
}

void add_trajectory(CLI::App& app, int& exit_status) {
  carry_out_elsewhere(declare_trajectory(app), exit_status);
}

}  // namespace forebay::cli
