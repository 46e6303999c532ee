#include <fmt/format.h>

#include <map>
#include <sstream>
#include <toml.hpp>

#include "run/settings/keys.h"

namespace forebay::settings {
namespace {

// The two major versions of toml11 differ in what this section names. Tables are sorted, so that of several mistakes
// always the same one is reported.
#if TOML11_VERSION_MAJOR >= 4
struct Sorted : toml::type_config {
  using comment_type = toml::discard_comments;
  template <class Key, class Element>
  using table_type = std::map<Key, Element>;
};
using Value = toml::basic_value<Sorted>;

Value parsed(std::istream& stream, const std::string& path) {
  return toml::parse<Sorted>(stream, path);
}
const std::string& text_of(const Value& value) {
  return value.as_string();
}
std::size_t line_of(const Value& value) {
  return value.location().first_line_number();
}
std::size_t line_of(const toml::syntax_error& failure) {
  for (const toml::error_info& each : failure.errors())
    if (!each.locations().empty()) return each.locations().front().first.first_line_number();
  return 0;
}
#else
using Value = toml::basic_value<toml::discard_comments, std::map, std::vector>;

Value parsed(std::istream& stream, const std::string& path) {
  return toml::parse<toml::discard_comments, std::map, std::vector>(stream, path);
}
const std::string& text_of(const Value& value) {
  return value.as_string().str;
}
std::size_t line_of(const Value& value) {
  return value.location().line();
}
std::size_t line_of(const toml::syntax_error& failure) {
  return failure.location().line();
}
#endif

nlohmann::json json_from(const Value& value) {
  switch (value.type()) {
    case toml::value_t::boolean:
      return value.as_boolean();
    case toml::value_t::integer:
      return value.as_integer();
    case toml::value_t::floating:
      return value.as_floating();
    case toml::value_t::string:
      return text_of(value);
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
      out.push_back({key, json_from(value), fmt::format("{}:{}", path, line_of(value))});
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
    collect(parsed(stream, path), "", path, assignments);
  } catch (const toml::syntax_error& failure) {
    return error(Code::bad_input,
                 fmt::format("{}:{}: not TOML: {}", path, line_of(failure), printable(first_words(failure.what()))));
  } catch (const std::exception& failure) {
    return error(Code::bad_input, fmt::format("{}: not TOML: {}", path, printable(first_words(failure.what()))));
  }
  return assignments;
}

}  // namespace forebay::settings
