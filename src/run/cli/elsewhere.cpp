#include "run/cli/elsewhere.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "run/cli/commands.h"

namespace forebay::cli {
namespace {

constexpr const char* kProgram = "forebay-files";

// Where the program may lie: beside this program in a build tree, and where it is installed.
Result<std::vector<std::string>> candidates() {
  const auto command = real_path("/proc/self/exe");
  if (!command) return forward(command);
  const std::string here{parent_of(*command)};
  return std::vector{join(here, kProgram), join(join(std::string(parent_of(here)), "libexec"), kProgram)};
}

int cannot_start(const std::vector<std::string>& paths) {
  return failed({Code::bad_input, "cannot start", paths.front(), errno,
                 "it belongs to forebay: install all of it (docs/install.md)"});
}

std::vector<char*> words_of(std::vector<std::string>& arguments) {
  std::vector<char*> words;
  for (std::string& each : arguments) words.push_back(each.data());
  words.push_back(nullptr);
  return words;
}

}  // namespace

Declared<std::vector<std::string>> declare_carry(CLI::App& app) {
  const auto directories = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("carry", "carry home what programs left in a pool");
  command->add_option("DIR", *directories, "directories of slots")->required();
  return {command, directories};
}

int carry_out_elsewhere() {
  const auto paths = candidates();
  if (!paths) return failed(paths.error());
  // What a process was started with tells no size beforehand.
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < line.size(); at += arguments.back().size() + 1) arguments.emplace_back(&line[at]);
  for (const std::string& path : *paths) ::execv(path.c_str(), words_of(arguments).data());
  return cannot_start(*paths);
}

int carry_elsewhere(const std::vector<std::string>& directories) {
  const auto paths = candidates();
  if (!paths) return failed(paths.error());
  std::vector<std::string> arguments{kProgram, "carry"};
  arguments.insert(arguments.end(), directories.begin(), directories.end());
  for (const std::string& path : *paths) {
    pid_t child = 0;
    errno = ::posix_spawn(&child, path.c_str(), nullptr, nullptr, words_of(arguments).data(), environ);
    if (errno != 0) continue;
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(Code::failed);
  }
  return cannot_start(*paths);
}

}  // namespace forebay::cli
