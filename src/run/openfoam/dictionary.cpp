// Reads one entry of a dictionary without being OpenFOAM: the structure (comments, strings, braces, lists, directives)
// is followed exactly, values are taken as text.
#include "run/openfoam/dictionary_reader.h"
#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {

std::optional<std::string> dictionary_entry(std::string_view text, std::string_view key) {
  std::optional<std::string> found;
  Reader reader(text);
  int conditions = 0;  // depth of #if ... #endif: what stands there may or may not hold
  for (;;) {
    reader.skip_space_and_comments();
    if (reader.at_end()) return found;
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
      if (line.starts_with("#remove") && line.find(key) != std::string_view::npos) found.reset();
    } else {
      const std::string_view keyword = c == '"' ? reader.take_string() : reader.take_word();
      // "$name;" at the top level merges a dictionary; it has no value of its own.
      if (keyword.empty() || keyword.front() == '$') continue;
      const Value value = reader.take_value();
      if (keyword != key) continue;
      found.reset();
      if (value.literal && conditions == 0) found = value.text;
    }
  }
}

}  // namespace forebay::openfoam
