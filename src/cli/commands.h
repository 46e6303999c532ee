// The commands of `forebay`, one file each. add_<command> adds the subcommand to the app; when it was called, its
// callback sets the exit status (docs/exit-codes.md).
#pragma once

#include <CLI/CLI.hpp>

#include "base/base.h"

namespace forebay::cli {

void add_bench(CLI::App& app, int& exit_status);
void add_doctor(CLI::App& app, int& exit_status);
void add_plan(CLI::App& app, int& exit_status);

// Prints "forebay: <the error's text>" to standard error; returns its exit status.
int failed(const Error& error);

}  // namespace forebay::cli
