// A controlDict by which a program that runs ends well: OpenFOAM reads it again when it has changed, and obeys its
// `stopAt`. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/base.h"

namespace forebay::openfoam {

// The same text with `stopAt <how>;` (writeNow, nextWrite) as its last entry, which is the one that counts. Where the
// program would not read it again, or where the text is not understood well enough to be sure, the error names `path`
// and the line.
Result<std::string> with_stop_at(std::string_view control, std::string_view how, const std::string& path);

}  // namespace forebay::openfoam
