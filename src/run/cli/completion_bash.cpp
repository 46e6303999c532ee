#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "run/cli/interface.h"

namespace forebay::cli {
namespace {

// The part that does not depend on the commands: where the cursor is, and the words of a program behind `--`.
constexpr const char* head = "# bash completion for forebay, made by: forebay completion bash\n";
constexpr const char* before_cases = R"(_forebay_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
_forebay_paths() {
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
  compopt -o filenames 2> /dev/null || :
}
# One of the words of $1 was typed already.
_forebay_has() {
  local word
  for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    [[ " $1 " != *" $word "* ]] || return 0
  done
  return 1
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
// A key of --set goes on behind its "=".
constexpr const char* keys_of_set = R"(_forebay_keys() {{
  _forebay_words "{}"
  compopt -o nospace 2> /dev/null || :
}}
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
  if (argument.value == "KEY=VALUE") return "_forebay_keys";
  if (argument.value == "COMMAND") return "_forebay_words \"$commands\"";
  if (takes_directory(argument)) return "_forebay_paths -d";
  if (takes_file(argument)) return "_forebay_paths -f";
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
  std::vector<std::string> flags;
  for (const Argument& option : command.options) flags.insert(flags.end(), option.names.begin(), option.names.end());
  if (command.takes_program) flags.emplace_back("--");
  const std::string offer_flags = fmt::format("_forebay_words \"{}\"", fmt::join(flags, " "));
  if (command.takes_program || command.positionals.empty())
    return fmt::format("    {}) {} ;;\n", command.name, offer_flags);
  std::string text =
      fmt::format("    {})\n      if [[ $current == -* ]]; then\n        {}\n", command.name, offer_flags);
  const Argument* doing = action_of(command);
  if (doing != nullptr)
    text += fmt::format("      elif ! _forebay_has \"{}\"; then\n        {}\n", fmt::join(choices_of(*doing), " "),
                        action(*doing));
  if (doing == nullptr || command.positionals.size() > 1)
    text += fmt::format("      else\n        {}\n", action(command.positionals.back()));
  return text + "      fi\n      ;;\n";
}

// "run drain.when": behind a key of --set and its "=".
std::string values_of_keys(const std::string& command, const std::vector<settings::Key>& keys) {
  std::string text;
  for (const settings::Key& key : keys)
    text += fmt::format("    \"{} {}\") {}; return ;;\n", command, key.name,
                        key.choices.empty() ? ":" : fmt::format("_forebay_words \"{}\"", fmt::join(key.choices, " ")));
  return text;
}

bool takes_keys(const Command& command) {
  return std::ranges::any_of(command.options, [](const Argument& option) { return option.value == "KEY=VALUE"; });
}

}  // namespace

std::string bash_completion(const Interface& interface) {
  const std::string names = fmt::format("{}", fmt::join(command_names(interface), " "));
  std::string programs = "\" ", first = names + " ", values, words, keys;
  for (const settings::Key& key : interface.keys) keys += (keys.empty() ? "" : " ") + key.name + "=";
  for (const Command& command : interface.commands) {
    if (command.takes_program) programs += command.name + " ";
    values += values_case(command);
    if (takes_keys(command)) values += values_of_keys(command.name, interface.keys);
    words += words_case(command);
  }
  for (const Argument& option : interface.whole.options) first += fmt::format("{} ", fmt::join(option.names, " "));
  std::string text = fmt::format(keys_of_set, keys);
  text = std::string(head) + text + before_cases + fmt::format("  local commands=\"{}\"\n", names);
  text += fmt::format("  if ((COMP_CWORD == 1)); then\n    _forebay_words \"{}\"\n    return\n  fi\n", first);
  text += fmt::format(program_case, programs + "\"");
  text += "  case \"$command $previous\" in\n" + values + "  esac\n";
  text += "  case $command in\n" + words + "  esac\n}\ncomplete -F _forebay forebay\n";
  return text;
}

}  // namespace forebay::cli
