// Options that several commands have in common.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/say.h"
#include "run/cli/commands.h"
#include "run/settings/settings.h"

namespace forebay::cli {

int failed(const Error& error) {
  say(stderr, "forebay: {}\n", error.text());
  return static_cast<int>(error.code);
}

CLI::Option* add_list(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                      const std::string& type, const std::string& meaning) {
  return command.add_option(flag, values, meaning)->allow_extra_args(false)->type_name(type);
}

void add_program(CLI::App& command, const std::string& name, std::vector<std::string>& words,
                 const std::string& meaning) {
  command.add_option(name, words, meaning)
      ->required()
      ->type_name("")
      ->transform([](const std::string& word) { return word.starts_with(program_mark) ? word.substr(1) : word; }, "");
  command.positionals_at_end();
}

void add_setting(CLI::App& command, GivenSettings& given, const std::string& flag, const std::string& name,
                 const std::string& meaning) {
  const auto assign = [&given, name](const std::string& value) { given.assigned.emplace_back(name, value); };
  CLI::Option* option = command.add_option_function<std::string>(flag, assign, meaning);
  for (const settings::Key& key : settings::keys()) {
    if (key.name != name) continue;
    option->type_name(!key.choices.empty()            ? fmt::format("{}", fmt::join(key.choices, "|"))
                      : key.type.starts_with("bytes") ? "BYTES"
                      : key.type.starts_with("time")  ? "TIME"
                                                      : "VALUE");
    std::string usual = key.default_text;
    std::erase(usual, '"');
    if (usual != "none") option->default_str(usual);
  }
}

void add_set(CLI::App& command, GivenSettings& given) {
  add_list(command, "--set", given.pairs, "KEY=VALUE",
           "any key of the configuration; `forebay doctor --all` shows all with their values");
}

Status apply(const GivenSettings& given, settings::Settings& settings) {
  for (const auto& [key, value] : given.assigned)
    if (auto set = settings::assign(settings, key, value, "the command line"); !set) return set;
  for (const std::string& pair : given.pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return error(Code::bad_input, "--set takes KEY=VALUE, not", pair, "see `forebay doctor --all` for the keys");
    if (auto set = settings::assign(settings, pair.substr(0, equals), pair.substr(equals + 1), "--set"); !set)
      return set;
  }
  return settings::check(settings);
}

}  // namespace forebay::cli
