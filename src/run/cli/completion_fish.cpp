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

std::string fish_option(const std::string& condition, const Argument& option) {
  std::string text = fmt::format("complete -c forebay -n {}", fish_quoted(condition));
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (const auto choices = choices_of(option); !choices.empty()) {
    text += fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(choices, " "))));
  } else if (option.value == "DIR") {
    text += " -x -a '(__fish_complete_directories)'";
  } else if (option.value == "FILE") {
    text += " -r -F";
  } else if (!option.value.empty()) {
    text += " -x";
  }
  return text + " -d " + fish_quoted(option.meaning) + "\n";
}

}  // namespace

std::string fish_completion(const Interface& interface) {
  std::string text = "# fish completion for forebay, made by: forebay completion fish\ncomplete -c forebay -f\n";
  for (const Command& command : interface.commands) {
    if (!command.hidden)
      text += fmt::format("complete -c forebay -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          fish_quoted(command.summary));
    const std::string here = "__fish_seen_subcommand_from " + command.name;
    const std::string condition = command.takes_program ? here + "; and not contains -- -- (commandline -opc)" : here;
    for (const Argument& option : command.options) text += fish_option(condition, option);
    for (const Argument& each : command.positionals)
      if (const auto choices = choices_of(each); !choices.empty())
        text += fmt::format("complete -c forebay -n {} -a {}\n", fish_quoted(condition),
                            fish_quoted(fmt::format("{}", fmt::join(choices, " "))));
    if (command.takes_program)
      text += fmt::format("complete -c forebay -n {} -F -a '(__fish_complete_command)'\n",
                          fish_quoted(here + "; and contains -- -- (commandline -opc)"));
  }
  for (const Argument& option : interface.whole.options) text += fish_option("__fish_use_subcommand", option);
  return text;
}

}  // namespace forebay::cli
