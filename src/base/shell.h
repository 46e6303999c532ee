// Words for a shell.
#pragma once

#include <string>
#include <string_view>

namespace forebay {

// A word as a person would type it, quoted where needed: bytes that printable() would not show stand as $'\xNN', which
// bash, ksh and zsh understand.
std::string shell_word(std::string_view bytes);

}  // namespace forebay
