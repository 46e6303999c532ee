// posix_spawn.
#include <alloca.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/redirect/exec.h"
#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {

using Actions = posix_spawn_file_actions_t;
using Attributes = posix_spawnattr_t;

ENTRY(int, posix_spawn,
      (pid_t * pid, const char* path, const Actions* actions, const Attributes* attributes, char* const argv[],
       char* const environment[])) {
  if (!active() || path == nullptr) return NEXT(posix_spawn)(pid, path, actions, attributes, argv, environment);
  auto** variables = static_cast<char**>(alloca((count_of(environment) + State::max_variables + 1) * sizeof(char*)));
  auto** room = static_cast<char**>(alloca((count_of(argv) + Program::room + 1) * sizeof(char*)));
  environment = child_environment(environment, variables);
  Program program;
  if (const int failed = program.prepare(path, argv, room); failed < 0) return -failed;
  const int result = NEXT(posix_spawn)(pid, program.path(), actions, attributes,
                                       program.interprets() ? program.arguments() : argv, environment);
  if (result != ENOENT || program.interprets()) return result;
  // Perhaps a script whose interpreter exists in the tree only.
  if (program.prepare(path, argv, room, true) < 0 || !program.interprets()) return ENOENT;
  return NEXT(posix_spawn)(pid, program.path(), actions, attributes, program.arguments(), environment);
}

ENTRY(int, posix_spawnp,
      (pid_t * pid, const char* file, const Actions* actions, const Attributes* attributes, char* const argv[],
       char* const environment[])) {
  if (!active() || file == nullptr) return NEXT(posix_spawnp)(pid, file, actions, attributes, argv, environment);
  if (strchr(file, '/') != nullptr) return entry_posix_spawn(pid, file, actions, attributes, argv, environment);
  const char* search = getenv("PATH");
  if (search == nullptr || *file == '\0' || !search_meets_case(search)) {
    auto** variables = static_cast<char**>(alloca((count_of(environment) + State::max_variables + 1) * sizeof(char*)));
    return NEXT(posix_spawnp)(pid, file, actions, attributes, argv, child_environment(environment, variables));
  }
  int worst = ENOENT;
  for (const char* at = search;; ++at) {
    const char* end = strchrnul(at, ':');
    Path path;
    path.append(at, static_cast<size_t>(end - at));
    if (path.size > 0) path.append("/", 1);
    path.append(file);
    const int result = entry_posix_spawn(pid, path.text, actions, attributes, argv, environment);
    if (result == EACCES)
      worst = EACCES;
    else if (result != ENOENT && result != ENOTDIR)
      return result;
    if (*end == '\0') return worst;
    at = end;
  }
}

// libc opens these in the child by itself, so what is opened for writing is made a file of its own now.
ENTRY(int, posix_spawn_file_actions_addopen, (Actions * actions, int fd, const char* path, int flags, mode_t mode)) {
  Located location(AT_FDCWD, path);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
  if (writes)
    make_own(location, location.buffer, true);
  else
    follow(location);
  return NEXT(posix_spawn_file_actions_addopen)(actions, fd, location.path, flags, mode);
}

ENTRY(int, posix_spawn_file_actions_addchdir_np, (Actions * actions, const char* path)) {
  const Located location(AT_FDCWD, path, Reach::whole);
  return NEXT(posix_spawn_file_actions_addchdir_np)(actions, location.path);
}

}  // namespace forebay::redirect
