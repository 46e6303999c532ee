// Manual pages: the section names and macros of man(7).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "run/cli/interface.h"

namespace forebay::cli {
namespace {

struct ExitStatus {
  const char* status;
  const char* meaning;
};
// docs/exit-codes.md tells more of each.
constexpr ExitStatus exit_statuses[] = {
    {"0", "all went well; of a run: everything it left is on the case, whole and verified"},
    {"1", "something failed that has no status of its own; the message says what"},
    {"2", "bad input: the command line, the configuration or the case is not usable; nothing was touched"},
    {"3", "undrained: data is still only local; \"forebay drain --resume\" carries it home"},
    {"4", "lost: data that the run made is gone; nothing was removed from the case"},
    {"5", "conflict: the case changed under the run; both versions are kept"},
    {"6", "pool full: a pool ran full while the program wrote"},
    {"7", "busy: another run holds the case, or a dead one left it unfinished"},
};

// Dashes that can be copied into a shell, and no line that roff takes for a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'' || c == '"') {
      out += c == '"' ? "\\(dq" : "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(const std::string& text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string head(const std::string& name, const std::string& summary) {
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(".TH {} 1 \"\" \"forebay {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", roff(title),
                     FOREBAY_VERSION, roff(name), roff(summary));
}

std::string synopsis(const Command& command) {
  std::string text = fmt::format(".SH SYNOPSIS\n.B forebay {}\n", roff(command.name));
  for (const Argument& option : command.options)
    if (option.required) text += fmt::format("{} {}\n", bold(option.names.back()), roff(option.value));
  text += "[\\fIOPTIONS\\fR]\n";
  for (const Argument& each : command.positionals) {
    const std::string word = fmt::format("\\fI{}\\fR{}", roff(each.names.front()), each.repeats ? " ..." : "");
    text += command.takes_program ? bold("--") + " " + word + "\n" : each.required ? word + "\n" : "[" + word + "]\n";
  }
  return text;
}

std::string item(const Argument& argument) {
  std::string text = ".TP\n";
  for (const std::string& name : argument.names)
    text += fmt::format("{}{}", &name == &argument.names.front() ? "" : ", ", bold(name));
  if (!argument.value.empty() && argument.names.front().starts_with('-'))
    text += fmt::format(" \\fI{}\\fR", roff(argument.value));
  text += "\n" + roff(argument.meaning);
  if (!argument.default_text.empty()) text += fmt::format(" (default: {})", roff(argument.default_text));
  if (argument.repeats && !argument.value.empty() && argument.names.front().starts_with('-'))
    text += "; may be repeated";
  return text + "\n";
}

std::string items(const char* section, const std::vector<Argument>& arguments) {
  if (arguments.empty()) return {};
  std::string text = fmt::format(".SH {}\n", section);
  bool in_rare = false;
  for (const Argument& argument : arguments) {
    if (argument.rare && !in_rare) text += ".SS Rare options\n";
    in_rare = argument.rare;
    text += item(argument);
  }
  return text;
}

std::string examples(const Command& command) {
  std::string text;
  for (const std::string& example : command.examples)
    text += fmt::format("{}.RS\n.nf\n{}\n.fi\n.RE\n", text.empty() ? "" : ".PP\n", roff(example));
  return ".SH EXAMPLES\n" + text;
}

std::string statuses(const Command& command) {
  std::string text = ".SH \"EXIT STATUS\"\n";
  if (command.name == "run")
    text += "The program's own status when that is not 0. When it is 0, the run's own trouble decides:\n";
  if (command.name == "exec")
    return text +
           "That of the program; 128 + the signal that killed it; 126 when it could not be started, 127 when it was "
           "not found. Before that, as of\n.BR forebay\\-run (1).\n";
  for (const auto& [status, meaning] : exit_statuses) text += fmt::format(".TP\n.B {}\n{}\n", status, roff(meaning));
  return text;
}

std::string see_also(const Interface& interface, const std::string& self) {
  std::vector<std::string> pages;
  if (self != "forebay") pages.emplace_back("forebay");
  for (const Command& each : interface.commands)
    if (!each.hidden && each.name != self) pages.push_back("forebay-" + each.name);
  std::string text = ".SH \"SEE ALSO\"\n";
  for (const std::string& page : pages)
    text += fmt::format(".BR {} (1){}\n", roff(page), &page == &pages.back() ? "" : ",");
  return text;
}

std::string paragraphs(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += (text.empty() ? "" : ".PP\n") + roff(note) + "\n";
  return text;
}

}  // namespace

std::string manual_of_command(const Interface& interface, const Command& command) {
  std::string text = head("forebay-" + command.name, command.summary) + synopsis(command);
  if (!command.notes.empty()) text += ".SH DESCRIPTION\n" + paragraphs(command.notes);
  text += items("ARGUMENTS", command.positionals) + items("OPTIONS", command.options);
  return text + examples(command) + statuses(command) + see_also(interface, command.name);
}

std::string manual_of_whole(const Interface& interface) {
  std::string text = head("forebay", interface.whole.summary);
  text += ".SH SYNOPSIS\n.B forebay\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
  if (!interface.whole.notes.empty()) text += ".SH DESCRIPTION\n" + paragraphs(interface.whole.notes);
  text += ".SH COMMANDS\n";
  for (const Command& each : interface.commands)
    if (!each.hidden) text += fmt::format(".TP\n.BR forebay\\-{} (1)\n{}\n", each.name, roff(each.summary));
  text += items("OPTIONS", interface.whole.options);
  return text + examples(interface.whole) + statuses(interface.whole) + see_also(interface, "forebay");
}

}  // namespace forebay::cli
