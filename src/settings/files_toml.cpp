#include <fmt/format.h>

#include <map>
#include <sstream>
#include <toml.hpp>

#include "settings/keys.h"

namespace forebay::settings {
namespace {

// Sorted tables, so that of several mistakes always the same one is reported.
using Value = toml::basic_value<toml::discard_comments, std::map, std::vector>;

nlohmann::json json_from(const Value& value) {
  switch (value.type()) {
    case toml::value_t::boolean:
      return value.as_boolean();
    case toml::value_t::integer:
      return value.as_integer();
    case toml::value_t::floating:
      return value.as_floating();
    case toml::value_t::string:
      return value.as_string().str;
    case toml::value_t::array: {
      auto list = nlohmann::json::array();
      for (const Value& element : value.as_array()) list.push_back(json_from(element));
      return list;
    }
    case toml::value_t::table:
      return nlohmann::json::object();
    default:
      return nullptr;  // dates and times, which no key takes
  }
}

void collect(const Value& table, const std::string& prefix, const std::string& path, std::vector<Assignment>& out) {
  for (const auto& [name, value] : table.as_table()) {
    const std::string key = prefix + name;
    if (value.is_table()) {
      collect(value, key + ".", path, out);
    } else {
      out.push_back({key, json_from(value), fmt::format("{}:{}", path, value.location().line())});
    }
  }
}

// toml11 prefixes its messages with "[error] toml::function: " and goes on with a picture of the line.
std::string first_words(std::string_view message) {
  message = message.substr(0, message.find('\n'));
  for (const std::string_view prefix : {"[error] ", "toml::"})
    if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  return std::string(message);
}

}  // namespace

Result<std::vector<Assignment>> parse_toml(const std::string& content, const std::string& path) {
  std::vector<Assignment> assignments;
  try {
    std::istringstream stream(content);
    const auto root = toml::parse<toml::discard_comments, std::map, std::vector>(stream, path);
    collect(root, "", path, assignments);
  } catch (const toml::exception& failure) {
    return error(Code::bad_input, fmt::format("{}:{}: not TOML: {}", path, failure.location().line(),
                                              printable(first_words(failure.what()))));
  } catch (const std::exception& failure) {
    return error(Code::bad_input, fmt::format("{}: not TOML: {}", path, printable(first_words(failure.what()))));
  }
  return assignments;
}

}  // namespace forebay::settings
