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

// As CLI11 is to read them: backwards, and the words of a program marked.
std::vector<std::string> to_parse(std::vector<std::string> words) {
  const bool takes_program = !words.empty() && (words.front() == "run" || words.front() == "exec");
  const auto separator = std::ranges::find(words, "--");
  if (takes_program && separator != words.end())
    std::for_each(separator + 1, words.end(), [](std::string& word) { word.insert(0, 1, program_mark); });
  std::ranges::reverse(words);
  return words;
}

// The text of `forebay` alone: what it is for, and what to type next.
std::string first_words() {
  return fmt::format(
      R"(forebay {}: a solver writes to memory on its own node, and each finished output time is copied to the
case on the shared file system in the background, whole and verified.

In the directory of a case, put two words before the launch line that you have:

  forebay run -- mpirun -n 4 simpleFoam -parallel

  forebay doctor    is this a case, what would be used, is there anything to gain
  forebay status    what is only in memory still, and what is safe on the case
  forebay help      all commands; `forebay help run` tells of one
)",
      FOREBAY_VERSION);
}

// `forebay help run` is `forebay run --help`.
std::vector<std::string> asked_for_help(std::vector<std::string> words) {
  if (words.empty() || words.front() != "help" || (words.size() > 1 && words[1].starts_with('-'))) return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

constexpr const char* common_options = "Common options";
constexpr const char* rare_options = "Rare options";

// Where some options are rare, --help shows the others apart. A default stands behind what an option means.
void arrange_options(CLI::App& command) {
  const auto options = command.get_options();
  const auto is_rare = [](const CLI::Option* option) { return option->get_group() == rare_options; };
  const bool has_rare = std::ranges::any_of(options, is_rare);
  for (CLI::Option* option : options) {
    if (has_rare && !option->get_positional() && !is_rare(option)) option->group(common_options);
    const std::string usual = option->get_default_str();
    if (usual.empty()) continue;
    option->description(fmt::format("{} (default: {})", option->get_description(), usual))->default_str("");
  }
}

}  // namespace

void set_rare(CLI::App& command, std::initializer_list<const char*> flags) {
  for (const char* flag : flags) command.get_option(flag)->group(rare_options);
}

void add_help(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("help", "show all commands, or the options of one");
  command->add_option("command", "of which command (default: of the whole)")->type_name("COMMAND");
  command->footer(footer({"forebay help", "forebay help run"}));
  command->callback([&exit_status] { exit_status = 0; });  // asked_for_help() leaves it nothing to do
}

void add_commands(CLI::App& app, int& exit_status) {
  app.set_version_flag("--version,-V", FOREBAY_VERSION, "print the version");
  app.require_subcommand(1);
  app.footer(
      footer({"forebay run -- mpirun -n 4 simpleFoam -parallel", "forebay status", "forebay doctor"},
             {"Runs unmodified programs on a case on a shared file system, with their files in the memory beside "
              "each socket, and carries the results to the case in the background, whole and verified.",
              "`forebay help COMMAND` and forebay-COMMAND(1) tell of each command."}));
  for (const auto add : {add_run, add_doctor, add_status, add_stop, add_drain, add_clean, add_predict, add_help})
    add(app, exit_status);
  for (CLI::App* command : app.get_subcommands({})) command->group("Common commands");
  for (const auto add : {add_exec, add_stage, add_restartable, add_plan, add_inspect, add_trajectory, add_mesh,
                         add_report, add_bench, add_man, add_completion})
    add(app, exit_status);
  for (CLI::App* command : app.get_subcommands({})) {
    const std::string group = command->get_group();
    if (!group.empty() && group != "Common commands") command->group("Other commands");
    arrange_options(*command);
  }
}

int forebay(int argc, char** argv) {
  int exit_status = 0;
  const auto words = asked_for_help({argv + std::min(argc, 1), argv + argc});
  if (words.empty()) {
    fmt::print("{}", first_words());
    return 0;
  }
  CLI::App app("File and state I/O of flow simulation at the speed of local memory.", "forebay");
  add_commands(app, exit_status);
  try {
    if (lacks_program(words)) throw CLI::RequiredError("program");
    // CLI11 would show the help of the whole.
    if (words.size() > 1 && words.back() == "--help" && !words.front().starts_with('-') && !known_command(app, words))
      throw CLI::ExtrasError({words.front()});
    app.parse(to_parse(words));
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
