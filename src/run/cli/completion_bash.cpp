#include <fmt/format.h>
#include <fmt/ranges.h>

#include "run/cli/interface.h"

namespace forebay::cli {
namespace {

// What does not depend on the commands: where the cursor is, and the words of a program behind `--`.
constexpr const char* before_cases = R"(# bash completion for forebay, made by: forebay completion bash
_forebay_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
_forebay_paths() {
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
  compopt -o filenames 2> /dev/null || :
}
_forebay() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} index
  COMPREPLY=()
  # --flag=value comes as three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = && COMP_CWORD -ge 2 ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";
constexpr const char* program_case = R"(  if [[ {} == *" $command "* ]]; then
    for ((index = 2; index < COMP_CWORD; index++)); do
      [[ ${{COMP_WORDS[index]}} == -- ]] || continue
      if declare -F _command_offset > /dev/null; then
        _command_offset $((index + 1))
      elif ((index + 1 == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      else
        _forebay_paths -f
      fi
      return
    done
  fi
)";

std::string action(const Argument& argument) {
  if (const auto choices = choices_of(argument); !choices.empty())
    return fmt::format("_forebay_words \"{}\"", fmt::join(choices, " "));
  if (argument.value == "DIR") return "_forebay_paths -d";
  if (argument.value == "FILE") return "_forebay_paths -f";
  return ":";  // a number, a pattern: nothing to offer
}

std::string values_case(const Command& command) {
  std::string text;
  for (const Argument& option : command.options)
    if (!option.value.empty())
      for (const std::string& name : option.names)
        text += fmt::format("    \"{} {}\") {}; return ;;\n", command.name, name, action(option));
  return text;
}

std::string words_case(const Command& command) {
  std::vector<std::string> words;
  for (const Argument& option : command.options) words.insert(words.end(), option.names.begin(), option.names.end());
  for (const Argument& each : command.positionals)
    for (const std::string& word : choices_of(each)) words.push_back(word);
  if (command.takes_program) words.emplace_back("--");
  return fmt::format("    {}) _forebay_words \"{}\" ;;\n", command.name, fmt::join(words, " "));
}

}  // namespace

std::string bash_completion(const Interface& interface) {
  std::string programs = "\" ", first, values, words;
  for (const Command& command : interface.commands) {
    if (command.takes_program) programs += command.name + " ";
    if (!command.hidden) first += command.name + " ";
    values += values_case(command);
    words += words_case(command);
  }
  for (const Argument& option : interface.whole.options) first += fmt::format("{} ", fmt::join(option.names, " "));
  std::string text = before_cases;
  text += fmt::format("  if ((COMP_CWORD == 1)); then\n    _forebay_words \"{}\"\n    return\n  fi\n", first);
  text += fmt::format(program_case, programs + "\"");
  text += "  case \"$command $previous\" in\n" + values + "  esac\n";
  text += "  case $command in\n" + words + "  esac\n}\ncomplete -F _forebay forebay\n";
  return text;
}

}  // namespace forebay::cli
