#include "meshes/mesh/child.h"

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

extern char** environ;

namespace forebay::mesh {
namespace {

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_error("cannot make a pipe", "");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// False at the end.
bool take(const Descriptor& from, std::string& to) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
  if (got > 0) to.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

// Both at once, so that the program never waits for one while we wait for the other.
void take_all(Descriptor& out, Descriptor& err, Output& output) {
  std::array<pollfd, 2> waiting{{{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}}};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;  // a signal
    if (waiting[0].revents != 0 && !take(out, output.text)) waiting[0].fd = -1;
    if (waiting[1].revents != 0 && !take(err, output.errors)) waiting[1].fd = -1;
  }
}

}  // namespace

Result<Output> run_child(std::vector<std::string> words) {
  auto out = make_pipe(), err = make_pipe();
  if (!out) return forward(out);
  if (!err) return forward(err);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out->write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err->write.get(), STDERR_FILENO);
  pid_t child = 0;
  errno = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  const int spawned = errno;
  ::posix_spawn_file_actions_destroy(&actions);
  errno = spawned;
  if (spawned != 0) return errno_error("cannot start", words[0]);
  out->write.reset();
  err->write.reset();
  Output output;
  take_all(out->read, err->read, output);
  while (::waitpid(child, &output.status, 0) < 0 && errno == EINTR) {
  }
  return output;
}

}  // namespace forebay::mesh
