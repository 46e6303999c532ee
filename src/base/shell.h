// Words for a shell.
#pragma once

#include <string>
#include <string_view>

namespace forebay {

// A word as a person would type it, quoted where needed: bytes that printable() would not show stand as $'\xNN', which
// bash, ksh and zsh understand.
std::string shell_word(std::string_view bytes);

// "`cp -anL FROM/. TO/` copies what is missing there and replaces nothing": for people who have to do it themselves.
// Links are followed, since files of other pools are links in the tree.
std::string copy_by_hand(std::string_view from, std::string_view to);

}  // namespace forebay
