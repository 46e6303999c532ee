// Parts of the command that are programs in Python, which lie together beside it.
#pragma once

#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::cli {

// Where they lie: installed beside the command, or in the sources above a build tree. `what` names them
// in an error. `holding`: a file that must be there; what is not built is not installed.
Result<std::string> python_programs(const std::string& what, const std::string& holding);

// The program finds the version of forebay in FOREBAY_VERSION. Python writes nothing beside it (-B): whoever removes an
// installation would leave that. It returns only when the program cannot be started.
Status start_python(const std::string& program, std::vector<std::string> words);

}  // namespace forebay::cli
