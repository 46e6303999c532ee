#include "arrays/blocks/striping.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace forebay::blocks {

Status set_striping(const std::string& directory, const Options& options) {
  std::vector<std::string> words = {"lfs", "setstripe"};
  for (const auto& [name, value] : options.hints) {
    if (name == "striping_factor") words.insert(words.end(), {"-c", value});
    if (name == "striping_unit") words.insert(words.end(), {"-S", value});
  }
  if (words.size() == 2) return {};
  words.push_back(directory);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (failed == ENOENT) return {};
  if (failed != 0) {
    errno = failed;
    return errno_error("cannot run lfs setstripe for", directory);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return errno_error("cannot wait for lfs setstripe for", directory);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return error(Code::bad_input, "lfs setstripe refuses the striping that the hints ask for, on", directory,
               "is it on Lustre, and are striping_factor and striping_unit right?");
}

}  // namespace forebay::blocks
