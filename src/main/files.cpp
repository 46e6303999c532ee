// forebay-files: the commands of `forebay` that need HDF5; its options were looked at by `forebay` already.
#include "files/files.h"

int main(int argc, char** argv) {
  using namespace forebay;
  int exit_status = 0;
  CLI::App app("The commands of forebay that need HDF5.", "forebay");
  const auto inspect = cli::declare_inspect(app);
  inspect.command->callback([&] { exit_status = files::inspect(*inspect.options); });
  const auto mesh = cli::declare_mesh(app);
  mesh.command->callback([&] { exit_status = files::multiply(*mesh.options); });
  const auto carry = cli::declare_carry(app);
  carry.command->callback([&] { exit_status = files::carry(*carry.options); });
  CLI11_PARSE(app, argc, argv);
  return exit_status;
}
