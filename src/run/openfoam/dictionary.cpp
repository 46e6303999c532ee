// Reads one entry of a dictionary without being OpenFOAM: the structure (comments, strings, braces, lists, directives)
// is followed exactly, values are taken as text.
#include "run/openfoam/dictionary_reader.h"
#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {

void find_entries(std::string_view text, std::string_view key,
                  const std::function<void(Reader& reader, bool is_certain)>& take,
                  const std::function<void()>& removed) {
  Reader reader(text);
  int conditions = 0;  // depth of #if ... #endif: what stands there may or may not hold
  for (;;) {
    reader.skip_space_and_comments();
    if (reader.at_end()) return;
    const char c = reader.front();
    if (c == ';' || c == '}' || c == ')' || c == '(' || c == '[' || c == ']') {
      reader.take();
    } else if (c == '{') {
      reader.take();
      reader.skip_dictionary();
    } else if (reader.at_verbatim()) {
      reader.take_verbatim();
    } else if (c == '#') {
      const std::string_view line = reader.skip_line();
      if (line.starts_with("#if")) ++conditions;
      if (line.starts_with("#endif") && conditions > 0) --conditions;
      if (line.starts_with("#remove") && line.find(key) != std::string_view::npos) removed();
    } else {
      const std::string_view keyword = c == '"' ? reader.take_string() : reader.take_word();
      // "$name;" at the top level merges a dictionary; it has no value of its own.
      if (keyword.empty() || keyword.front() == '$') continue;
      if (keyword == key)
        take(reader, conditions == 0);
      else
        reader.take_value();
    }
  }
}

std::optional<std::string> dictionary_entry(std::string_view text, std::string_view key) {
  std::optional<std::string> found;
  const auto take = [&](Reader& reader, bool is_certain) {
    const Value value = reader.take_value();
    found.reset();
    if (value.literal && is_certain) found = value.text;
  };
  find_entries(text, key, take, [&] { found.reset(); });
  return found;
}

}  // namespace forebay::openfoam
