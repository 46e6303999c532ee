// Walks over a dictionary's text, for those who look for an entry. Private to the room.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace forebay::openfoam {

// A primitive entry's value, or what stands in its place.
struct Value {
  std::string text;
  bool literal = true;  // false: a sub-dictionary, a macro, a directive, or cut off
};

// Each member takes what stands at the front.
class Reader {
 public:
  explicit Reader(std::string_view text) : whole_(text), text_(text) {}

  bool at_end() const { return text_.empty(); }
  char front() const { return text_.front(); }
  std::string_view rest() const { return text_; }
  // The line that the front is in; the first is 1.
  std::size_t line() const;
  // A comment, a string, a block, a dictionary or an entry was begun, and the text ended in it.
  bool was_cut_off() const { return cut_off_; }

  void skip_space_and_comments();
  // Comments inside a line of a directive need no care: everything up to the newline goes.
  std::string_view skip_line();
  char take();
  // A string with its quotes, or a #{ ... #} block.
  std::string_view take_string();
  bool at_verbatim() const { return text_.starts_with("#{"); }
  std::string_view take_verbatim();
  // A keyword or a word of a value. Parentheses may be part of it, as in div(phi,U); ${name} is one word too. Where
  // they do not close, as in 2("/a" "/b"), they begin a list.
  std::string_view take_word();
  // A sub-dictionary, behind its opening brace.
  void skip_dictionary();
  // Takes the value behind a keyword, up to its semicolon.
  Value take_value();

 private:
  std::string_view take_up_to(std::size_t end);

  std::string_view whole_, text_;
  bool cut_off_ = false;
};

// Goes over the top level of a dictionary. Behind each keyword `key` it calls `take`, which takes the entry's value;
// `is_certain`: no #if says whether the entry holds. `removed`: a directive removes the entry.
void find_entries(std::string_view text, std::string_view key,
                  const std::function<void(Reader& reader, bool is_certain)>& take,
                  const std::function<void()>& removed);

}  // namespace forebay::openfoam
