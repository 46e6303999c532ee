// What several commands have in common.
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

void add_setting(CLI::App& command, GivenSettings& given, const std::string& flag, const std::string& key,
                 const std::string& type, const std::string& meaning) {
  const auto assign = [&given, key](const std::string& value) { given.assigned.emplace_back(key, value); };
  command.add_option_function<std::string>(flag, assign, meaning)->type_name(type);
}

Status apply(const GivenSettings& given, settings::Settings& settings) {
  for (const auto& [key, value] : given.assigned)
    if (auto set = settings::assign(settings, key, value, "the command line"); !set) return set;
  for (const std::string& pair : given.pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return error(Code::bad_input, "--set takes KEY=VALUE, not", pair, "see `forebay doctor` for the keys");
    if (auto set = settings::assign(settings, pair.substr(0, equals), pair.substr(equals + 1), "--set"); !set)
      return set;
  }
  return settings::check(settings);
}

}  // namespace forebay::cli
