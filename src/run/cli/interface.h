// The command's interface, as a value: read from the same tree that parses command lines and prints --help, so manual
// pages and completion cannot drift from it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "run/settings/settings.h"

namespace forebay::cli {

struct Argument {
  std::vector<std::string> names;  // "-q", "--quiet"; of a positional its one name
  std::string value;               // what it takes: "DIR", "FILE", "live|end" (one of these), ...; empty for a flag
  std::string meaning, default_text;
  bool required = false, repeats = false, rare = false;
};

struct Command {
  std::string name;  // "run"; of the whole "forebay"
  std::string summary;
  std::vector<Argument> options, positionals;
  std::vector<std::string> examples, notes;  // notes: paragraphs
  bool hidden = false;
  bool takes_program = false;  // what follows `--` is a program with its own arguments
};

struct Interface {
  Command whole;
  std::vector<Command> commands;
  std::vector<settings::Key> keys;  // what --set KEY=VALUE takes
};
Interface interface_of(const CLI::App& app);

// The end of a command's --help: examples, one a line, then paragraphs.
std::string footer(const std::vector<std::string>& examples, const std::vector<std::string>& notes = {});

// The words of a value that is to be typed as it stands: "live|end" -> {"live", "end"}, "multiply" -> {"multiply"};
// empty for what stands for something of the user's, like "FILE" or "NAME|FILE".
std::vector<std::string> choices_of(const Argument& argument);
// The first argument where it is a word that says what to do, like that of `forebay mesh multiply`; else nullptr.
const Argument* action_of(const Command& command);
// Whether an argument is completed with paths.
bool takes_directory(const Argument& argument);
bool takes_file(const Argument& argument);
// The names of commands that --help shows.
std::vector<std::string> command_names(const Interface& interface);

// A page for man(1), in roff: of one command, or of the whole.
std::string manual_of_command(const Interface& interface, const Command& command);
std::string manual_of_whole(const Interface& interface);

// The script that a shell sources to complete the command's words.
std::string bash_completion(const Interface& interface);
std::string zsh_completion(const Interface& interface);
std::string fish_completion(const Interface& interface);

}  // namespace forebay::cli
