#include "run/settings/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "run/settings/keys.h"

namespace forebay::settings {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

Status apply_file(Settings& settings, const std::string& path, bool must_exist) {
  if (path.empty()) return {};
  const auto content = read_file(path, std::size_t{1} << 20);
  if (!content) {
    const int why = content.error().errno_value;
    if (!must_exist && (why == ENOENT || why == ENOTDIR)) return {};
    Error failure = content.error();
    failure.code = Code::bad_input;
    failure.advice = must_exist ? "FOREBAY_CONFIG names this file" : "make it readable, or set XDG_CONFIG_HOME or HOME";
    return tl::unexpected<Error>(std::move(failure));
  }
  const auto assignments = parse_toml(*content, path);
  if (!assignments) return forward(assignments);
  for (const Assignment& assignment : *assignments)
    if (auto applied = apply(settings, assignment); !applied) return applied;
  return {};
}

// Parts of forebay hand each other things in FOREBAY_ variables too; only these beginnings are for settings alone.
bool belongs_to_settings(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kBeginnings{"FOREBAY_POOL_", "FOREBAY_STAGE_", "FOREBAY_DRAIN_"};
  return std::ranges::any_of(kBeginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

Status apply_variable(Settings& settings, const std::string& name, const std::string& value) {
  std::vector<std::string> known;
  for (const KeyEntry& entry : entries()) {
    known.push_back(environment_name(entry.name));
    if (known.back() == name) return assign(settings, entry.name, value, name);
  }
  if (!belongs_to_settings(name)) return {};
  const std::string near = closest(name, known);
  return error(Code::bad_input, "unknown environment variable " + printable(name), {},
               near.empty() ? "unset it; forebay doctor lists the keys" : "did you mean " + near + "?");
}

}  // namespace

Sources sources_of_this_process() {
  Sources sources;
  sources.site_file = "/etc/forebay.toml";
  const std::string configured = variable("XDG_CONFIG_HOME"), home = variable("HOME");
  if (configured.starts_with('/')) {
    sources.user_file = join(configured, "forebay/config.toml");
  } else if (home.starts_with('/')) {
    sources.user_file = join(home, ".config/forebay/config.toml");
  }
  sources.named_file = variable("FOREBAY_CONFIG");
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (text.starts_with("FOREBAY_") && equals != std::string_view::npos)
      sources.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return sources;
}

Result<Settings> load(const Sources& sources) {
  Settings settings;
  if (auto applied = apply_file(settings, sources.site_file, false); !applied) return forward(applied);
  if (auto applied = apply_file(settings, sources.user_file, false); !applied) return forward(applied);
  if (auto applied = apply_file(settings, sources.named_file, true); !applied) return forward(applied);
  for (const auto& [name, value] : sources.environment)
    if (auto applied = apply_variable(settings, name, value); !applied) return forward(applied);
  if (auto sound = check(settings); !sound) return forward(sound);
  return settings;
}

Status assign(Settings& settings, std::string_view key, std::string_view text, std::string_view where) {
  const KeyEntry* entry = find_entry(key);
  nlohmann::json value(text);
  if (entry != nullptr) value = text.empty() ? value_of(Settings{}, *entry) : value_from_text(*entry, text);
  return apply(settings, {std::string(key), std::move(value), std::string(where)});
}

Status check(const Settings& settings) {
  if (settings.pool.low_water >= settings.pool.high_water)
    return error(Code::bad_input, fmt::format("pool.low_water ({:g}) is not below pool.high_water ({:g})",
                                              settings.pool.low_water, settings.pool.high_water));
  for (const auto& [key, directories] :
       {std::pair("drain.checkpoints", &settings.drain.checkpoints), std::pair("stage.direct", &settings.stage.direct),
        std::pair("stage.watch", &settings.stage.watch)})
    for (const std::string& directory : *directories)
      if (directory.starts_with('/') || has_parent_step(directory))
        return error(Code::bad_input, fmt::format("{}: {} does not lie in the case", key, printable(directory)), {},
                     "give it relative to the case");
  return {};
}

std::string to_json(const Settings& settings) {
  nlohmann::ordered_json out;
  for (const KeyEntry& entry : entries()) {
    const auto parts = split(entry.name, '.');
    out[std::string(parts[0])][std::string(parts[1])] = value_of(settings, entry);
  }
  return out.dump();
}

Result<Settings> from_json(std::string_view text) {
  static constexpr const char* kWhere = "settings of the run";
  const auto parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_object()) return error(Code::bad_input, fmt::format("{}: not a JSON object", kWhere));
  Settings settings;
  for (const auto& [section, members] : parsed.items()) {
    if (!members.is_object())
      return error(Code::bad_input, fmt::format("{}: {} is not an object", kWhere, printable(section)));
    for (const auto& [name, value] : members.items())
      if (auto applied = apply(settings, {section + "." + name, value, kWhere}); !applied) return forward(applied);
  }
  if (auto sound = check(settings); !sound) return forward(sound);
  return settings;
}

const std::vector<Key>& keys() {
  static const std::vector<Key> table = [] {
    std::vector<Key> rows;
    for (const KeyEntry& entry : entries())
      rows.push_back({std::string(entry.name), type_text(entry), value_of(Settings{}, entry).dump(),
                      environment_name(entry.name), std::string(entry.meaning), choices_of(entry)});
    return rows;
  }();
  return table;
}

std::string value_text(const Settings& settings, std::string_view key) {
  const KeyEntry* entry = find_entry(key);
  return entry == nullptr ? std::string() : value_of(settings, *entry).dump();
}

std::optional<node::Way> forced_way(Via via) {
  switch (via) {
    case Via::automatic:
      return std::nullopt;
    case Via::path:
      return node::Way::path;
    case Via::redirect:
      return node::Way::redirect;
    case Via::namespaces:
      return node::Way::namespaces;
  }
  return std::nullopt;
}

}  // namespace forebay::settings
