// The place that a link leads to, as far as its text tells.
#pragma once

#include <string_view>

namespace forebay::tree {

// By its text a relative link in `directory` leads out of what that is relative to.
bool leads_out(std::string_view directory, std::string_view target);

}  // namespace forebay::tree
