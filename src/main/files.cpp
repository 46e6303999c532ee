// forebay-files: the commands of `forebay` that need more libraries (run/cli/elsewhere.h); its options were looked at
// by `forebay` already.
#include "files/files.h"

#include <cstdlib>

int main(int argc, char** argv) {
  using namespace forebay;
  // Set to true, it has HDF5 lock each file, whatever we ask for: it would find the lock that we hold ourselves.
  ::unsetenv("HDF5_USE_FILE_LOCKING");
  int exit_status = 0;
  CLI::App app("Commands of forebay.", "forebay");
  const auto inspect = cli::declare_inspect(app);
  inspect.command->callback([&] { exit_status = files::inspect(*inspect.options); });
  const auto trajectory = cli::declare_trajectory(app);
  trajectory.command->callback([&] { exit_status = files::trajectory(*trajectory.options); });
  const auto mesh = cli::declare_mesh(app);
  mesh.command->callback([&] { exit_status = files::multiply(*mesh.options); });
  const auto carry = cli::declare_carry(app);
  carry.command->callback([&] { exit_status = files::carry(*carry.options); });
  CLI11_PARSE(app, argc, argv);
  return exit_status;
}
