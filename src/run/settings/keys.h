// The table of keys, and values on their way into the struct. Internal to settings.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "run/settings/settings.h"

namespace forebay::settings {

using OptionalBytes = std::optional<std::uint64_t>;
using Words = std::vector<std::string>;
// The member that a key's value lies in. The alternative is the key's type.
using Field =
    std::variant<Words*, double*, int*, OptionalBytes*, std::chrono::milliseconds*, Via*, Layout*, Verify*, DrainWhen*>;

struct KeyEntry {
  std::string_view name;
  Field (*field)(Settings&);
  std::string_view meaning;
  double least = 0, most = 1;  // of numbers; of milliseconds for times
};
const std::vector<KeyEntry>& entries();
const KeyEntry* find_entry(std::string_view name);
std::string environment_name(std::string_view key);

// A value that a source gives to a key.
struct Assignment {
  std::string key;
  nlohmann::json value;
  std::string where;  // "/etc/forebay.toml:3"
};
Status apply(Settings& settings, const Assignment& assignment);
// Words of a type for people, and a value in the form that apply() takes.
std::string type_text(const KeyEntry& entry);
// The words of a type that is one of some words; empty for others.
std::vector<std::string> choices_of(const KeyEntry& entry);
nlohmann::json value_of(const Settings& settings, const KeyEntry& entry);
// The value that a text means for this key's type; the text itself where it means none (apply() then refuses it).
nlohmann::json value_from_text(const KeyEntry& entry, std::string_view text);

// Every leaf of a TOML file as an assignment.
Result<std::vector<Assignment>> parse_toml(const std::string& content, const std::string& path);

}  // namespace forebay::settings
