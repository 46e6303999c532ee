// The Python that runs the programs of the command which are written in it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace forebay {

// The first interpreter that has a module. The one that the variable FOREBAY_PYTHON names comes first: pip's `forebay`
// sets it to its own. The python3 of each directory of PATH comes next. Python 3.11 and later have the module
// `tomllib`. If several modules are named, the function looks for an interpreter with the first one, then for one with
// the next. It prints which interpreter it takes, on standard error, where that is not the first one.
Result<std::string> find_python(const std::vector<std::string>& modules = {"tomllib"});

}  // namespace forebay
