// The commands of `forebay`, one file each. add_<command> adds the subcommand to the app; when it was called, its
// callback sets the exit status (docs/exit-codes.md).
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/base.h"

namespace forebay::settings {
struct Settings;
}

namespace forebay::cli {

void add_bench(CLI::App& app, int& exit_status);
void add_predict(CLI::App& app, int& exit_status);
void add_report(CLI::App& app, int& exit_status);
void add_doctor(CLI::App& app, int& exit_status);
void add_plan(CLI::App& app, int& exit_status);
void add_run(CLI::App& app, int& exit_status);
void add_stage(CLI::App& app, int& exit_status);
void add_exec(CLI::App& app, int& exit_status);
void add_status(CLI::App& app, int& exit_status);
void add_stop(CLI::App& app, int& exit_status);
void add_drain(CLI::App& app, int& exit_status);
void add_clean(CLI::App& app, int& exit_status);
void add_restartable(CLI::App& app, int& exit_status);
void add_inspect(CLI::App& app, int& exit_status);
void add_trajectory(CLI::App& app, int& exit_status);
void add_mesh(CLI::App& app, int& exit_status);
void add_help(CLI::App& app, int& exit_status);
void add_man(CLI::App& app, int& exit_status);
void add_completion(CLI::App& app, int& exit_status);
// The whole tree of commands.
void add_commands(CLI::App& app, int& exit_status);

// The whole command: parses, runs one subcommand, returns the exit status.
int forebay(int argc, char** argv);

// Prints "forebay: <the error's text>" to standard error; returns its exit status.
int failed(const Error& error);

// Options that few need: --help shows them behind the others.
void set_rare(CLI::App& command, std::initializer_list<const char*> flags);

// An option that takes a value each time that it is given.
CLI::Option* add_list(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                      const std::string& type, const std::string& meaning);

// The program and its arguments, behind `--`. CLI11 takes a word like "[a,b]" for two: each word of a program comes to
// it with a mark before it, which is taken off again.
inline constexpr char program_mark = ':';
void add_program(CLI::App& command, const std::string& name, std::vector<std::string>& words,
                 const std::string& meaning);

// A command's options about settings: single keys, and --set KEY=VALUE.
struct GivenSettings {
  std::vector<std::pair<std::string, std::string>> assigned;  // key, value
  std::vector<std::string> pairs;                             // "KEY=VALUE"
};
// Adds an option for a key: its values and its default are those of the table of keys.
void add_setting(CLI::App& command, GivenSettings& given, const std::string& flag, const std::string& key,
                 const std::string& meaning);
void add_set(CLI::App& command, GivenSettings& given);
// Into `settings`, which are then checked.
Status apply(const GivenSettings& given, settings::Settings& settings);

}  // namespace forebay::cli
