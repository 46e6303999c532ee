#include "base/python.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/text.h"

extern char** environ;

namespace forebay {
namespace {

std::vector<std::string> candidates() {
  std::vector<std::string> found;
  const auto add = [&](std::string path) {
    if (::access(path.c_str(), X_OK) == 0) found.push_back(std::move(path));
  };
  if (const char* named = std::getenv("FOREBAY_PYTHON"); named != nullptr) found.emplace_back(named);
  const char* path = std::getenv("PATH");
  for (const std::string_view directory : split(path != nullptr ? path : "/usr/bin:/bin", ':'))
    if (directory.starts_with('/')) add(join(directory, "python3"));
  return found;
}

// True if the interpreter finds the module. It does not import it, which may take a second. Its output is dropped.
bool has(const std::string& python, const std::string& module) {
  std::array<std::string, 3> words{python, "-c",
                                   "import importlib.util as i, sys; sys.exit(i.find_spec('" + module + "') is None)"};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, python.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

Result<std::string> find_python(const std::vector<std::string>& modules) {
  const std::vector<std::string> found = candidates();
  for (const std::string& module : modules)
    for (const std::string& each : found) {
      if (!has(each, module)) continue;
      if (each != found.front())
        fmt::print(stderr, "forebay: runs a program in {}, since {} has no module {}\n", each, found.front(), module);
      return each;
    }
  const std::string lacked =
      modules.back() == "tomllib" ? "is Python 3.11 or later" : "has the module " + modules.back();
  return error(Code::bad_input, fmt::format("no Python that was found {}:", lacked),
               found.empty() ? "python3 of PATH" : fmt::format("{}", fmt::join(found, ", ")),
               modules.back() == "tomllib"
                   ? "name one in the variable FOREBAY_PYTHON"
                   : "install python3-" + modules.back() + ", or name another one in FOREBAY_PYTHON");
}

}  // namespace forebay
