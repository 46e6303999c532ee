#include <gtest/gtest.h>

#include "run/cli/commands.h"
#include "run/cli/interface.h"

namespace forebay::cli {
namespace {

Interface whole() {
  static int exit_status = 0;
  CLI::App app("what it is for", "forebay");
  add_commands(app, exit_status);
  return interface_of(app);
}

const Command& named(const Interface& interface, const std::string& name) {
  for (const Command& command : interface.commands)
    if (command.name == name) return command;
  throw std::runtime_error("no command " + name);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(InterfaceTest, every_command_has_a_summary_and_an_example_of_itself) {
  const Interface interface = whole();
  EXPECT_GE(interface.commands.size(), 10U);
  for (const Command& command : interface.commands) {
    EXPECT_FALSE(command.summary.empty()) << command.name;
    ASSERT_FALSE(command.examples.empty()) << command.name;
    EXPECT_NE(command.examples.front().find("forebay " + command.name), std::string::npos) << command.name;
  }
}

TEST(InterfaceTest, tells_what_an_option_takes) {
  const Interface interface = whole();
  for (const Argument& option : named(interface, "run").options) {
    if (option.names.back() == "--via") {
      EXPECT_EQ(choices_of(option), (std::vector<std::string>{"auto", "path", "redirect", "namespace"}));
    }
    if (option.names.back() == "--quiet") {
      EXPECT_EQ(option.value, "");
    }
    if (option.names.back() == "--pool") {
      EXPECT_TRUE(option.repeats);
      EXPECT_EQ(option.value, "DIR");
    }
  }
  EXPECT_TRUE(named(interface, "run").takes_program);
  EXPECT_FALSE(named(interface, "status").takes_program);
  EXPECT_TRUE(named(interface, "man").hidden);
}

TEST(InterfaceTest, a_paragraph_of_help_is_wrapped_and_read_back_whole) {
  CLI::App app("what it is for", "forebay");
  const std::string note(std::string(60, 'a') + " " + std::string(60, 'b') + " c");
  app.footer(footer({"forebay x"}, {note, "second"}));
  EXPECT_NE(app.get_footer().find("a\nb"), std::string::npos);
  EXPECT_EQ(interface_of(app).whole.notes, (std::vector<std::string>{note, "second"}));
}

TEST(ManualTest, a_page_has_every_option_and_example_of_the_help) {
  const Interface interface = whole();
  for (const Command& command : interface.commands) {
    const std::string page = manual_of_command(interface, command);
    for (const char* section : {".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXAMPLES", "EXIT STATUS", "SEE ALSO"})
      EXPECT_NE(page.find(section), std::string::npos) << command.name << section;
    EXPECT_EQ(count(page, ".RS\n"), command.examples.size()) << command.name;
    EXPECT_EQ(count(page, ".TP\n\\fB\\-"), command.options.size()) << command.name;
  }
}

TEST(ManualTest, no_text_is_taken_for_a_request) {
  Interface interface;
  interface.whole.name = "forebay";
  Command command;
  command.name = "x";
  command.notes = {".so /etc/passwd", "a\\*b"};
  const std::string page = manual_of_command(interface, command);
  EXPECT_EQ(page.find("\n.so"), std::string::npos);
  EXPECT_NE(page.find("a\\e*b"), std::string::npos);
}

TEST(CompletionTest, hidden_commands_are_not_offered) {
  const Interface interface = whole();
  for (const std::string& script : {bash_completion(interface), zsh_completion(interface), fish_completion(interface)})
    EXPECT_EQ(script.find("print a manual page"), std::string::npos);
}

}  // namespace
}  // namespace forebay::cli
