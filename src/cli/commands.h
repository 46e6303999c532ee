// The commands of `forebay`, one file each. add_<command> adds the subcommand to the app; when it was called, its
// callback sets the exit status (docs/exit-codes.md).
#pragma once

#include <CLI/CLI.hpp>

namespace forebay::cli {

void add_doctor(CLI::App& app, int& exit_status);
void add_plan(CLI::App& app, int& exit_status);

}  // namespace forebay::cli
