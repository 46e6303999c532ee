#include "run/openfoam/dictionary_reader.h"

#include <algorithm>

namespace forebay::openfoam {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

}  // namespace

std::size_t Reader::line() const {
  const std::string_view before = whole_.substr(0, whole_.size() - text_.size());
  return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
}

void Reader::skip_space_and_comments() {
  while (!text_.empty()) {
    if (is_space(text_.front())) {
      text_.remove_prefix(1);
    } else if (text_.starts_with("//")) {
      skip_line();
    } else if (text_.starts_with("/*")) {
      const std::size_t end = text_.find("*/", 2);
      cut_off_ = cut_off_ || end == std::string_view::npos;
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 2);
    } else {
      return;
    }
  }
}

std::string_view Reader::skip_line() {
  const std::string_view line = text_.substr(0, text_.find('\n'));
  text_.remove_prefix(std::min(line.size() + 1, text_.size()));
  return line;
}

char Reader::take() {
  const char c = text_.front();
  text_.remove_prefix(1);
  return c;
}

std::string_view Reader::take_string() {
  std::size_t end = 1;
  while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
  cut_off_ = cut_off_ || end >= text_.size();
  return take_up_to(end + 1);
}

std::string_view Reader::take_verbatim() {
  const std::size_t end = text_.find("#}", 2);
  cut_off_ = cut_off_ || end == std::string_view::npos;
  return take_up_to(end == std::string_view::npos ? end : end + 2);
}

std::string_view Reader::take_word() {
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

void Reader::skip_dictionary() {
  int depth = 1;
  while (depth > 0) {
    skip_space_and_comments();
    if (at_end()) {
      cut_off_ = true;
      return;
    }
    if (front() == '"') {
      take_string();
    } else if (at_verbatim()) {
      take_verbatim();
    } else if (front() == '$') {
      take_word();
    } else {
      const char c = take();
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    }
  }
}

std::string_view Reader::take_up_to(std::size_t end) {
  const std::string_view taken = text_.substr(0, end);
  text_.remove_prefix(taken.size());
  return taken;
}

Value Reader::take_value() {
  Value value;
  int depth = 0;
  for (;;) {
    skip_space_and_comments();
    if (at_end()) {
      cut_off_ = true;
      return {"", false};
    }
    const char c = front();
    std::string_view token;
    if (c == ';' && depth == 0) {
      take();
      return value;
    }
    if (c == '"') {
      token = take_string();
    } else if (at_verbatim()) {
      token = take_verbatim();
      value.literal = false;
    } else if (c == '{' && depth == 0) {
      take();
      skip_dictionary();
      return {"", false};
    } else if (c == '(' || c == '[' || c == '{' || c == ')' || c == ']' || c == '}' || c == ';') {
      depth += c == '(' || c == '[' || c == '{' ? 1 : c == ';' ? 0 : -1;
      if (depth < 0) return {"", false};
      take();
      token = c == '(' ? "(" : c == ')' ? ")" : c == '[' ? "[" : c == ']' ? "]" : c == '{' ? "{" : c == '}' ? "}" : ";";
    } else {
      if (c == '$' || c == '#') value.literal = false;
      token = take_word();
    }
    const bool glued =
        value.text.empty() || value.text.back() == '(' || value.text.back() == '[' || c == ')' || c == ']';
    if (!glued) value.text += ' ';
    value.text += token;
  }
}

}  // namespace forebay::openfoam
