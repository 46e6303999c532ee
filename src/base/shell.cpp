#include "base/shell.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace forebay {

std::string shell_word(std::string_view bytes) {
  constexpr std::string_view plain = "-_./=:,+@%";
  const auto is_plain = [&](unsigned char c) {
    return std::isalnum(c) != 0 || plain.find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!bytes.empty() && std::all_of(bytes.begin(), bytes.end(), is_plain)) return std::string(bytes);
  std::string inside;
  if (printable(bytes) == bytes) {
    for (const char c : bytes) inside += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return "'" + inside + "'";
  }
  for (const char c : bytes) {
    if (c == '\'' || c == '\\') inside += '\\';
    inside += c;
  }
  return "$'" + printable(inside) + "'";
}

std::string copy_by_hand(std::string_view from, std::string_view to) {
  return "`cp -anL " + shell_word(std::string(from) + "/.") + " " + shell_word(std::string(to) + "/") +
         "` copies what is missing there and replaces nothing";
}

}  // namespace forebay
