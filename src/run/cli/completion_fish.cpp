#include <fmt/format.h>
#include <fmt/ranges.h>

#include "run/cli/interface.h"

namespace forebay::cli {
namespace {

std::string fish_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return "'" + out + "'";
}

// "run.via=" where any value may follow, "drain.when=live" and "drain.when=end" where some words may.
std::vector<std::string> assignments(const std::vector<settings::Key>& keys) {
  std::vector<std::string> all;
  for (const settings::Key& key : keys) {
    if (key.choices.empty()) all.push_back(key.name + "=");
    for (const std::string& choice : key.choices) all.push_back(key.name + "=" + choice);
  }
  return all;
}

std::string fish_option(const std::string& condition, const Argument& option, const std::vector<settings::Key>& keys) {
  std::string text = fmt::format("complete -c forebay -n {}", fish_quoted(condition));
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (const auto choices = choices_of(option); !choices.empty()) {
    text += fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(choices, " "))));
  } else if (option.value == "KEY=VALUE") {
    text += " -x -a " + fish_quoted(fmt::format("{}", fmt::join(assignments(keys), " ")));
  } else if (takes_directory(option)) {
    text += " -x -a '(__fish_complete_directories)'";
  } else if (takes_file(option)) {
    text += " -r -F";
  } else if (!option.value.empty()) {
    text += " -x";
  }
  return text + " -d " + fish_quoted(option.meaning) + "\n";
}

// The action comes first, and its object behind it.
std::string fish_positionals(const Command& command, const std::string& condition, const std::string& commands) {
  if (command.takes_program || command.positionals.empty()) return {};
  std::string text, behind = condition;
  if (const Argument* doing = action_of(command)) {
    const std::string words = fmt::format("{}", fmt::join(choices_of(*doing), " "));
    text += fmt::format("complete -c forebay -n {} -a {}\n",
                        fish_quoted(condition + "; and not __fish_seen_subcommand_from " + words), fish_quoted(words));
    behind += "; and __fish_seen_subcommand_from " + words;
  }
  const Argument& last = command.positionals.back();
  if (takes_directory(last))
    text += fmt::format("complete -c forebay -n {} -a '(__fish_complete_directories)'\n", fish_quoted(behind));
  if (takes_file(last)) text += fmt::format("complete -c forebay -n {} -F\n", fish_quoted(behind));
  if (last.value == "COMMAND")
    text += fmt::format("complete -c forebay -n {} -a {}\n", fish_quoted(behind), fish_quoted(commands));
  return text;
}

}  // namespace

std::string fish_completion(const Interface& interface) {
  const std::string names = fmt::format("{}", fmt::join(command_names(interface), " "));
  std::string text = "# fish completion for forebay, made by: forebay completion fish\ncomplete -c forebay -f\n";
  for (const Command& command : interface.commands) {
    if (!command.hidden)
      text += fmt::format("complete -c forebay -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          fish_quoted(command.summary));
    const std::string here = "__fish_seen_subcommand_from " + command.name;
    const std::string condition = command.takes_program ? here + "; and not contains -- -- (commandline -opc)" : here;
    for (const Argument& option : command.options) text += fish_option(condition, option, interface.keys);
    text += fish_positionals(command, condition, names);
    if (command.takes_program)
      text += fmt::format("complete -c forebay -n {} -F -a '(__fish_complete_command)'\n",
                          fish_quoted(here + "; and contains -- -- (commandline -opc)"));
  }
  for (const Argument& option : interface.whole.options)
    text += fish_option("__fish_use_subcommand", option, interface.keys);
  return text;
}

}  // namespace forebay::cli
