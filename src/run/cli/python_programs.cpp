#include "run/cli/python_programs.h"

#include <unistd.h>

#include <cstdlib>

#include "base/python.h"

namespace forebay::cli {

Result<std::string> python_programs(const std::string& what, const std::string& holding) {
  const auto command = real_path("/proc/self/exe");
  if (!command) return forward(command);
  const std::string above{parent_of(parent_of(*command))};
  for (const std::string& directory : {join(above, "share/forebay/bench"), join(parent_of(above), "bench")})
    if (::access(join(directory, holding).c_str(), R_OK) == 0) return directory;
  return error(Code::failed, "cannot find " + what + " of", *command,
               "run an installed forebay, or one in a build tree inside its sources");
}

Status start_python(const std::string& program, std::vector<std::string> words) {
  ::setenv("FOREBAY_VERSION", FOREBAY_VERSION, 1);  // for what it prints as JSON
  const auto python = find_python();
  if (!python) return forward(python);
  words.insert(words.begin(), {*python, "-B", program});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(python->c_str(), arguments.data());
  return errno_error("cannot start", *python);
}

}  // namespace forebay::cli
