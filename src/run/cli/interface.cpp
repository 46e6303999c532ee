#include "run/cli/interface.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/base.h"

namespace forebay::cli {
namespace {

constexpr std::string_view indent = "  ";
constexpr std::size_t line_width = 100;

std::string wrapped(const std::string& note) {
  std::string text;
  std::size_t column = 0;
  for (const std::string_view word : split(note, ' ')) {
    const bool fits = column == 0 || column + 1 + word.size() <= line_width;
    column = fits ? column + (column == 0 ? 0 : 1) + word.size() : word.size();
    text.append(text.empty() ? "" : fits ? " " : "\n").append(word);
  }
  return text;
}

Argument argument_of(const CLI::Option& option) {
  Argument argument;
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  if (argument.names.empty()) argument.names.push_back(option.get_name());
  if (option.get_type_size_max() > 0) argument.value = option.get_type_name();
  // CLI11's own word where the option has none: of a positional the name says more.
  if (argument.value == "TEXT" && option.get_positional()) argument.value = option.get_name();
  argument.meaning = option.get_description();
  argument.rare = option.get_group().starts_with("Rare");
  argument.default_text = option.get_default_str();
  argument.required = option.get_required();
  // A flag that counts, or a list.
  argument.repeats =
      option.get_items_expected_max() > 1 || option.get_multi_option_policy() != CLI::MultiOptionPolicy::Throw;
  return argument;
}

Command command_of(const CLI::App& app) {
  Command command;
  command.name = app.get_name();
  command.summary = app.get_description();
  command.hidden = app.get_group().empty();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      command.positionals.push_back(argument_of(*option));
      command.takes_program = command.takes_program || app.get_positionals_at_end();
    } else {
      command.options.push_back(argument_of(*option));
    }
  }
  std::stable_partition(command.options.begin(), command.options.end(),
                        [](const Argument& option) { return !option.rare; });
  const std::string text = app.get_footer();
  bool paragraph = false;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(indent)) {
      command.examples.emplace_back(line.substr(indent.size()));
    } else if (line.empty() || line == "Examples:") {
      paragraph = false;
    } else if (paragraph) {
      command.notes.back().append(" ").append(line);
    } else {
      command.notes.emplace_back(line);
      paragraph = true;
    }
  }
  return command;
}

}  // namespace

Interface interface_of(const CLI::App& app) {
  Interface interface;
  interface.whole = command_of(app);
  interface.keys = settings::keys();
  for (const CLI::App* each : app.get_subcommands({})) interface.commands.push_back(command_of(*each));
  return interface;
}

std::string footer(const std::vector<std::string>& examples, const std::vector<std::string>& notes) {
  std::string text = "Examples:";
  for (const std::string& example : examples) text.append("\n").append(indent).append(example);
  for (const std::string& note : notes) text.append("\n\n").append(wrapped(note));
  return text;
}

std::vector<std::string> choices_of(const Argument& argument) {
  std::vector<std::string> words;
  if (argument.value.empty()) return words;
  const auto stands_for_something = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0 || c == ' '; };
  if (std::ranges::any_of(argument.value, stands_for_something)) return words;
  for (const std::string_view word : split(argument.value, '|')) words.emplace_back(word);
  return words;
}

const Argument* action_of(const Command& command) {
  if (command.takes_program || command.positionals.empty()) return nullptr;
  return choices_of(command.positionals.front()).empty() ? nullptr : &command.positionals.front();
}

bool takes_directory(const Argument& argument) {
  return argument.value == "DIR";
}

bool takes_file(const Argument& argument) {
  const auto words = split(argument.value, '|');
  return std::ranges::find(words, "FILE") != words.end();
}

std::vector<std::string> command_names(const Interface& interface) {
  std::vector<std::string> names;
  for (const Command& command : interface.commands)
    if (!command.hidden) names.push_back(command.name);
  return names;
}

}  // namespace forebay::cli
