#include <fmt/format.h>

#include <map>
#include <sstream>
#include <toml.hpp>

#include "run/settings/keys.h"

namespace forebay::settings {
namespace {

// A place counts from 1; 0: unknown.
struct Place {
  std::size_t line = 0, column = 0;
};

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
Place place_of(const Value& value) {
  return {value.location().first_line_number(), value.location().first_column_number()};
}
Place place_of(const toml::syntax_error& failure) {
  for (const toml::error_info& each : failure.errors())
    if (!each.locations().empty()) {
      const auto& location = each.locations().front().first;
      return {location.first_line_number(), location.first_column_number()};
    }
  return {};
}
#else
using Value = toml::basic_value<toml::discard_comments, std::map, std::vector>;

Value parsed(std::istream& stream, const std::string& path) {
  return toml::parse<toml::discard_comments, std::map, std::vector>(stream, path);
}
const std::string& text_of(const Value& value) {
  return value.as_string().str;
}
Place place_of(const Value& value) {
  return {value.location().line(), value.location().column()};
}
Place place_of(const toml::syntax_error& failure) {
  return {failure.location().line(), failure.location().column()};
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

// "/etc/forebay.toml:3:8", as editors and compilers have it.
std::string where(const std::string& path, const Place& place) {
  if (place.line == 0) return path;
  return place.column == 0 ? fmt::format("{}:{}", path, place.line)
                           : fmt::format("{}:{}:{}", path, place.line, place.column);
}

void collect(const Value& table, const std::string& prefix, const std::string& path, std::vector<Assignment>& out) {
  for (const auto& [name, value] : table.as_table()) {
    const std::string key = prefix + name;
    if (value.is_table()) {
      collect(value, key + ".", path, out);
    } else {
      out.push_back({key, json_from(value), where(path, place_of(value))});
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

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_number_or_truth(std::string_view value) {
  return value == "true" || value == "false" || value.find_first_not_of("0123456789+-._e") == std::string_view::npos;
}

// The likely mistake in a line that is not TOML: toml11 says where it stopped, not what was meant.
std::string hint_for(std::string_view line) {
  line = trimmed(line);
  const std::size_t equals = line.find('=');
  if (line.starts_with('[') && equals == std::string_view::npos)
    return line.ends_with(']') ? "each [section] may stand once" : "a section ends with ]: [drain]";
  if (equals == std::string_view::npos) return "a line is a [section], or key = value";
  const std::string_view key = trimmed(line.substr(0, equals));
  std::string_view value = trimmed(line.substr(equals + 1));
  if (!value.starts_with('"') && !value.starts_with('\'')) value = trimmed(value.substr(0, value.find('#')));
  if (value.empty()) return "a value is missing behind =";
  if (value.starts_with('[')) return "texts in a list have quotes: [\"one\", \"two\"]";
  for (const char quote : {'"', '\''})
    if (value.starts_with(quote) && value.find(quote, 1) == std::string_view::npos)
      return fmt::format("the closing quote is missing: {} = {}{}", printable(key), printable(value), quote);
  if (value.starts_with('"') || is_number_or_truth(value)) return {};
  return fmt::format("texts have quotes: {} = \"{}\"", printable(key), printable(value));
}

std::string hint_at(const std::string& content, std::size_t line) {
  const auto lines = split(content, '\n');
  return line == 0 || line > lines.size() ? std::string() : hint_for(lines[line - 1]);
}

}  // namespace

Result<std::vector<Assignment>> parse_toml(const std::string& content, const std::string& path) {
  std::vector<Assignment> assignments;
  try {
    std::istringstream stream(content);
    collect(parsed(stream, path), "", path, assignments);
  } catch (const toml::syntax_error& failure) {
    const Place at = place_of(failure);
    return error(Code::bad_input,
                 fmt::format("{}: not TOML: {}", where(path, at), printable(first_words(failure.what()))), {},
                 hint_at(content, at.line));
  } catch (const std::exception& failure) {
    return error(Code::bad_input, fmt::format("{}: not TOML: {}", path, printable(first_words(failure.what()))));
  }
  return assignments;
}

}  // namespace forebay::settings
