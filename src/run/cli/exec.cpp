// forebay exec: what each rank runs under any launcher.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/launch/exec.h"
#include "run/launch/plan.h"

namespace forebay::cli {
namespace {

struct ExecOptions {
  std::string case_path;
  std::vector<std::string> program;
};

int exec(const ExecOptions& options) {
  std::string case_path = options.case_path;
  if (case_path.empty()) {
    auto here = real_path(".");
    if (here) case_path = launch::case_above(*here);
  }
  if (case_path.empty())
    return failed(error(Code::bad_input, "no run of forebay in this directory or above", "",
                        "start the launcher by `forebay run --case DIR -- ...`, or give exec --case DIR")
                      .value());
  auto status = launch::exec_program({case_path, options.program}, real_clock());
  return status ? *status : failed(status.error());
}

}  // namespace

void add_exec(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<ExecOptions>();
  CLI::App* command =
      app.add_subcommand("exec", "what each rank runs under a launcher; `forebay run` puts it in where it can");
  command->add_option("--case", options->case_path, "the case's directory (default: from the working directory)")
      ->type_name("DIR");
  add_program(*command, "program", options->program, "the program and its arguments, behind `--`");
  command->footer(footer(
      {"forebay run -- mylauncher -k 4 forebay exec -- simpleFoam -parallel"},
      {"The first on each node starts that node's agent and stays until the results are home; the others become the "
       "program. Needed only where `forebay run` cannot tell where the program begins: behind launchers other than "
       "mpirun, "
       "mpiexec and srun, and behind options that it does not know."}));
  command->callback([options, &exit_status] { exit_status = exec(*options); });
}

}  // namespace forebay::cli
