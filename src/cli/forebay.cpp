// The command as a whole.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace forebay::cli {
namespace {

// CLI11 knows that a word is wrong, not which one was meant.
std::string suggestion(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  const CLI::App* command = &app;
  for (const CLI::App* each : app.get_subcommands({}))
    if (!words.empty() && each->get_name() == words.front()) command = each;
  if (command == &app) {
    for (const CLI::App* each : app.get_subcommands({})) known.push_back(each->get_name());
    const std::string near = words.empty() ? std::string() : closest(words.front(), known);
    return near.empty() ? near : fmt::format("did you mean `forebay {}`?", near);
  }
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string flag = word.substr(0, word.find('='));
    if (!flag.starts_with("--") || std::find(known.begin(), known.end(), flag) != known.end()) continue;
    const std::string near = closest(flag, known);
    return near.empty() ? near : fmt::format("{} is not known here; did you mean {}?", printable(flag), near);
  }
  return {};
}

}  // namespace

int forebay(int argc, char** argv) {
  int exit_status = 0;
  CLI::App app("File and state I/O of flow simulation at the speed of local memory.", "forebay");
  app.set_version_flag("--version", FOREBAY_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Run a decomposed OpenFOAM case:  forebay run -- mpirun -n 4 simpleFoam -parallel\n"
      "See what is only local:          forebay status\n"
      "Exit statuses: docs/exit-codes.md");
  for (const auto add : {add_run, add_exec, add_status, add_drain, add_clean, add_plan, add_bench, add_doctor})
    add(app, exit_status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& wrong) {
    fmt::print(stderr, "forebay: {}\n", wrong.what());
    const std::string near = suggestion(app, {argv + 1, argv + argc});
    fmt::print(stderr, "{}{}see `forebay --help`\n", near, near.empty() ? "" : "\n");
    return static_cast<int>(Code::bad_input);
  }
  return exit_status;
}

}  // namespace forebay::cli
