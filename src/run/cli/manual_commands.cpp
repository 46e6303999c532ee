// forebay man and forebay completion: for packagers and `make install`, so --help does not list them.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "run/cli/commands.h"
#include "run/cli/interface.h"

namespace forebay::cli {
namespace {

Status write_page(const std::string& directory, const std::string& name, const std::string& text) {
  const std::string path = join(directory, name + ".1");
  auto file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (!file) return forward(file);
  return write_all(file->get(), text, path);
}

int print_manual(const Interface& interface, const std::string& name) {
  if (name.empty()) {
    fmt::print("{}", manual_of_whole(interface));
    return 0;
  }
  for (const Command& command : interface.commands) {
    if (command.name != name) continue;
    fmt::print("{}", manual_of_command(interface, command));
    return 0;
  }
  return failed(error(Code::bad_input, "no such command:", name, "see `forebay --help`").value());
}

int write_manuals(const Interface& interface, const std::string& directory) {
  Status written = write_page(directory, "forebay", manual_of_whole(interface));
  for (const Command& command : interface.commands)
    if (written && !command.hidden)
      written = write_page(directory, "forebay-" + command.name, manual_of_command(interface, command));
  return written ? 0 : failed(written.error());
}

}  // namespace

void add_man(CLI::App& app, int& exit_status) {
  struct Options {
    std::string command, directory;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("man", "print a manual page in roff")->group("");
  command->add_option("command", options->command, "of which command (default: of the whole)")->type_name("COMMAND");
  command->add_option("--into", options->directory, "write all pages into this directory instead")->type_name("DIR");
  command->footer(footer({"forebay man run | man -l -", "forebay man --into /usr/local/share/man/man1"}));
  command->callback([options, &app, &exit_status] {
    const Interface interface = interface_of(app);
    exit_status = options->directory.empty() ? print_manual(interface, options->command)
                                             : write_manuals(interface, options->directory);
  });
}

void add_completion(CLI::App& app, int& exit_status) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "print what a shell sources to complete commands")->group("");
  command->add_option("shell", *shell, "which shell")
      ->required()
      ->type_name("bash|zsh|fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  command->footer(footer({"source <(forebay completion bash)", "forebay completion fish | source"}));
  command->callback([shell, &app, &exit_status] {
    const Interface interface = interface_of(app);
    fmt::print("{}", *shell == "bash"  ? bash_completion(interface)
                     : *shell == "zsh" ? zsh_completion(interface)
                                       : fish_completion(interface));
    exit_status = 0;
  });
}

}  // namespace forebay::cli
