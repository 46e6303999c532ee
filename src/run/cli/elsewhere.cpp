#include "run/cli/elsewhere.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/pulse.h"
#include "run/cli/commands.h"

namespace forebay::cli {
namespace {

constexpr const char* kProgram = "forebay-files";
constexpr std::chrono::milliseconds work_interval{200};

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

// The bytes that a process has read and written, and its processor time: a text that changes while it works.
std::string work_of(pid_t process) {
  const std::string own = "/proc/" + std::to_string(process);
  const std::string stat = read_file(own + "/stat", 4096).value_or("");
  std::string work = read_file(own + "/io", 4096).value_or("");
  constexpr std::size_t user_time = 11, system_time = 12;  // words behind the name
  const auto words = split(std::string_view(stat).substr(std::min(stat.rfind(") ") + 2, stat.size())), ' ');
  for (const std::size_t word : {user_time, system_time})
    if (word < words.size()) work += words[word];
  return work;
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
  // The file of a process's arguments tells no size beforehand.
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < line.size(); at += arguments.back().size() + 1) arguments.emplace_back(&line[at]);
  for (const std::string& path : *paths) ::execv(path.c_str(), words_of(arguments).data());
  return cannot_start(*paths);
}

int carry_elsewhere(const std::vector<std::string>& directories, Clock& clock) {
  const auto paths = candidates();
  if (!paths) return failed(paths.error());
  std::vector<std::string> arguments{kProgram, "carry"};
  arguments.insert(arguments.end(), directories.begin(), directories.end());
  for (const std::string& path : *paths) {
    if (::access(path.c_str(), X_OK) != 0) continue;
    const std::vector<char*> words = words_of(arguments);
    const pid_t parent = ::getpid(), child = ::fork();
    if (child < 0) break;
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() == parent) ::execv(path.c_str(), words.data());
      ::_exit(static_cast<int>(Code::failed));
    }
    int status = 0;
    pid_t ended = 0;
    std::string before;
    while ((ended = ::waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
      // A watcher of this process learns that the other one is at work, or that it is not.
      if (std::string now = work_of(child); now != before) {
        Pulse::beat();
        before = std::move(now);
      }
      clock.sleep(work_interval);
    }
    return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(Code::failed);
  }
  return cannot_start(*paths);
}

}  // namespace forebay::cli
