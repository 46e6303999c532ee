// Messages for whoever reads along, which are not what a program is for.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace forebay {

// Prints, and lets the text go where it finds no room: fmt::print would throw, and so end a run when the log of its job
// lies on the disk that is full. The output that a command is asked for goes by fmt::print.
template <class... Arguments>
void say(std::FILE* to, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
  (void)std::fwrite(text.data(), 1, text.size(), to);
}

}  // namespace forebay
