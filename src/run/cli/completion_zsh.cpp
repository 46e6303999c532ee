#include <fmt/format.h>
#include <fmt/ranges.h>

#include "run/cli/interface.h"

namespace forebay::cli {
namespace {

// Quotes for single quotes, and for the brackets and colons of _arguments.
std::string zsh_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == '[' || c == ']' || c == ':') {
      out += std::string("\\") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string zsh_action(const Argument& argument) {
  if (const auto choices = choices_of(argument); !choices.empty()) return fmt::format("({})", fmt::join(choices, " "));
  if (argument.value == "KEY=VALUE") return "_forebay_keys";
  if (argument.value == "COMMAND") return "_forebay_commands";
  if (takes_directory(argument)) return "_files -/";
  if (takes_file(argument)) return "_files";
  return " ";
}

std::string zsh_option(const Argument& option, const std::string& name) {
  std::string text =
      fmt::format("        '{}{}{}[{}]", option.repeats ? "*" : "", name,
                  option.value.empty() || !name.starts_with("--") ? "" : "=", zsh_quoted(option.meaning));
  if (!option.value.empty())
    text += fmt::format(":{}:{}", zsh_quoted(option.names.back().substr(2)), zsh_action(option));
  return text + "' \\\n";
}

std::string command_case(const Command& command) {
  std::string text = fmt::format("    {})\n      _arguments -S \\\n", command.name);
  for (const Argument& option : command.options)
    for (const std::string& name : option.names) text += zsh_option(option, name);
  for (const Argument& each : command.positionals)
    text += command.takes_program ? "        '(-)1:program:_command_names -e' \\\n        '*::arguments:_normal' \\\n"
                                  : fmt::format("        '{}:{}:{}' \\\n",
                                                each.repeats    ? "*"
                                                : each.required ? ""
                                                                : ":",
                                                zsh_quoted(each.names.front()), zsh_action(each));
  text.replace(text.size() - 3, 3, "\n");  // the last line goes on nowhere
  return text + "      ;;\n";
}

std::string commands_function(const Interface& interface) {
  std::string text = "_forebay_commands() {\n  local -a commands=(\n";
  for (const Command& command : interface.commands)
    if (!command.hidden) text += fmt::format("    '{}:{}'\n", command.name, zsh_quoted(command.summary));
  return text + "  )\n  _describe command commands\n}\n";
}

// Behind --set: a key, and behind its "=" the words that it takes.
std::string keys_function(const std::vector<settings::Key>& keys) {
  std::string values, names;
  for (const settings::Key& key : keys) {
    names += " " + key.name;
    if (!key.choices.empty())
      values += fmt::format("      {}) compadd -- {} ;;\n", key.name, fmt::join(key.choices, " "));
  }
  return fmt::format(
      "_forebay_keys() {{\n  local key=${{PREFIX%%=*}}\n  if compset -P '*='; then\n    case $key in\n{}    esac\n  "
      "else\n    compadd -S = --{}\n  fi\n}}\n",
      values, names);
}

}  // namespace

std::string zsh_completion(const Interface& interface) {
  std::string text = "#compdef forebay\n# zsh completion for forebay, made by: forebay completion zsh\n";
  text += commands_function(interface) + keys_function(interface.keys);
  text +=
      "_forebay() {\n  if ((CURRENT == 2)); then\n    _forebay_commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const Command& command : interface.commands) text += command_case(command);
  return text +
         "  esac\n}\nif [[ $funcstack[1] == _forebay ]]; then\n  _forebay \"$@\"\nelse\n  compdef _forebay "
         "forebay\nfi\n";
}

}  // namespace forebay::cli
