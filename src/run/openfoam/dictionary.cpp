// Reads one entry of a dictionary without being OpenFOAM: the structure (comments, strings, braces, lists, directives)
// is followed exactly, values are taken as text.
#include <algorithm>

#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// Walks over a dictionary's text. Each member takes what stands at the front.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  char front() const { return text_.front(); }

  void skip_space_and_comments() {
    while (!text_.empty()) {
      if (is_space(text_.front())) {
        text_.remove_prefix(1);
      } else if (text_.starts_with("//")) {
        skip_line();
      } else if (text_.starts_with("/*")) {
        const std::size_t end = text_.find("*/", 2);
        text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 2);
      } else {
        return;
      }
    }
  }

  // Comments inside a line of a directive need no care: everything up to the newline goes.
  std::string_view skip_line() {
    const std::string_view line = text_.substr(0, text_.find('\n'));
    text_.remove_prefix(std::min(line.size() + 1, text_.size()));
    return line;
  }

  char take() {
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }

  // A string with its quotes, or a #{ ... #} block.
  std::string_view take_string() {
    std::size_t end = 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    return take_up_to(end + 1);
  }
  bool at_verbatim() const { return text_.starts_with("#{"); }
  std::string_view take_verbatim() {
    const std::size_t end = text_.find("#}", 2);
    return take_up_to(end == std::string_view::npos ? end : end + 2);
  }

  // A keyword or a word of a value. Parentheses may be part of it, as in div(phi,U); ${name} is one word too. Where
  // they do not close, as in 2("/a" "/b"), they begin a list.
  std::string_view take_word() {
    int depth = 0;
    std::size_t end = 0, opened = 0;
    for (; end < text_.size(); ++end) {
      const char c = text_[end];
      if (is_space(c) || c == ';' || c == '"') break;
      if ((c == '{' || c == '}') && depth == 0 && !(c == '{' && end > 0 && text_[end - 1] == '$')) break;
      if (text_.substr(end).starts_with("//") || text_.substr(end).starts_with("/*")) break;
      const bool opens = c == '(' || c == '{';
      const bool closes = c == ')' || c == '}';
      if (closes && depth == 0) break;
      if (opens && depth == 0) opened = end;
      depth += opens ? 1 : closes ? -1 : 0;
    }
    return take_up_to(depth > 0 && opened > 0 ? opened : end);
  }

 private:
  std::string_view take_up_to(std::size_t end) {
    const std::string_view taken = text_.substr(0, end);
    text_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view text_;
};

// A primitive entry's value, or what stands in its place.
struct Value {
  std::string text;
  bool literal = true;  // false: a sub-dictionary, a macro, a directive, or cut off
};

// Skips a sub-dictionary behind its opening brace.
void skip_dictionary(Reader& reader) {
  int depth = 1;
  while (depth > 0) {
    reader.skip_space_and_comments();
    if (reader.at_end()) return;
    if (reader.front() == '"') {
      reader.take_string();
    } else if (reader.at_verbatim()) {
      reader.take_verbatim();
    } else if (reader.front() == '$') {
      reader.take_word();
    } else {
      const char c = reader.take();
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    }
  }
}

Value read_value(Reader& reader) {
  Value value;
  int depth = 0;
  for (;;) {
    reader.skip_space_and_comments();
    if (reader.at_end()) return {"", false};
    const char c = reader.front();
    std::string_view token;
    if (c == ';' && depth == 0) {
      reader.take();
      return value;
    }
    if (c == '"') {
      token = reader.take_string();
    } else if (reader.at_verbatim()) {
      token = reader.take_verbatim();
      value.literal = false;
    } else if (c == '{' && depth == 0) {
      reader.take();
      skip_dictionary(reader);
      return {"", false};
    } else if (c == '(' || c == '[' || c == '{' || c == ')' || c == ']' || c == '}' || c == ';') {
      depth += c == '(' || c == '[' || c == '{' ? 1 : c == ';' ? 0 : -1;
      if (depth < 0) return {"", false};
      reader.take();
      token = c == '(' ? "(" : c == ')' ? ")" : c == '[' ? "[" : c == ']' ? "]" : c == '{' ? "{" : c == '}' ? "}" : ";";
    } else {
      if (c == '$' || c == '#') value.literal = false;
      token = reader.take_word();
    }
    const bool glued =
        value.text.empty() || value.text.back() == '(' || value.text.back() == '[' || c == ')' || c == ']';
    if (!glued) value.text += ' ';
    value.text += token;
  }
}

}  // namespace

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
      skip_dictionary(reader);
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
      const Value value = read_value(reader);
      if (keyword != key) continue;
      found.reset();
      if (value.literal && conditions == 0) found = value.text;
    }
  }
}

}  // namespace forebay::openfoam
