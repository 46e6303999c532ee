// The output of another program.
#pragma once

#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::mesh {

struct Output {
  std::string text;    // standard output
  std::string errors;  // standard error
  int status = 0;      // as waitpid() tells it
};
Result<Output> run_child(std::vector<std::string> words);

}  // namespace forebay::mesh
