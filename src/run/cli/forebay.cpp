// The command as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/say.h"
#include "run/cli/commands.h"
#include "run/cli/interface.h"

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
    if (!flag.starts_with("--") || std::ranges::find(known, flag) != known.end()) continue;
    const std::string near = closest(flag, known);
    return near.empty() ? near : fmt::format("{} is not known here; did you mean {}?", printable(flag), near);
  }
  return {};
}

bool known_command(const CLI::App& app, const std::vector<std::string>& words) {
  const auto commands = app.get_subcommands({});
  return !words.empty() &&
         std::ranges::any_of(commands, [&](const CLI::App* each) { return each->get_name() == words.front(); });
}

// `run` and `exec` take a program. Without `--` its options would be taken for ours.
bool lacks_program(const std::vector<std::string>& words) {
  if (words.empty() || (words.front() != "run" && words.front() != "exec")) return false;
  for (const std::string& word : words) {
    if (word == "-h" || word == "--help") return false;
    if (word == "--") return &word == &words.back();
  }
  return true;
}

}  // namespace

void add_commands(CLI::App& app, int& exit_status) {
  app.set_version_flag("--version", FOREBAY_VERSION, "print the version");
  app.require_subcommand(1);
  app.footer(footer(
      {"forebay run --case /shared/motorBike -- mpirun -n 4 simpleFoam -parallel", "forebay status", "forebay doctor"},
      {"Runs unmodified programs on a case on a shared file system, with their files in the memory beside "
       "each socket, and carries the results to the case in the background, whole and verified.",
       "`forebay COMMAND --help` and forebay-COMMAND(1) tell of each command."}));
  for (const auto add :
       {add_run, add_exec, add_stage, add_status, add_drain, add_clean, add_restartable, add_plan, add_inspect,
        add_trajectory, add_mesh, add_report, add_predict, add_bench, add_doctor, add_man, add_completion})
    add(app, exit_status);
}

int forebay(int argc, char** argv) {
  int exit_status = 0;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  CLI::App app("File and state I/O of flow simulation at the speed of local memory.", "forebay");
  add_commands(app, exit_status);
  try {
    if (lacks_program(words)) throw CLI::RequiredError("program");
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& wrong) {
    const std::string near = suggestion(app, words);
    say(stderr, "forebay: {}\n{}{}",
        lacks_program(words) ? "no program: write it as it is run today, behind `--`" : wrong.what(), near,
        near.empty() ? "" : "\n");
    say(stderr, "see `forebay{} --help`\n", known_command(app, words) ? " " + words.front() : "");
    return static_cast<int>(Code::bad_input);
  }
  return exit_status;
}

}  // namespace forebay::cli
