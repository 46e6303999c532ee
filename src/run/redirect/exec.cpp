// The exec family.
#include "run/redirect/exec.h"

#include <alloca.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/redirect/next.h"

namespace forebay::redirect {

ENTRY_DECLARATION(int, execve, (const char*, char* const[], char* const[]));
ENTRY_DECLARATION(int, execvpe, (const char*, char* const[], char* const[]));

namespace {

// alloca belongs to the caller's frame: memory that a child of vfork may use too.
#define CHILD_ENVIRONMENT(environment) \
  child_environment(environment,       \
                    static_cast<char**>(alloca((count_of(environment) + State::max_variables + 1) * sizeof(char*))))
#define ARGUMENT_ROOM(argv) static_cast<char**>(alloca((count_of(argv) + Program::room + 1) * sizeof(char*)))

int exec_redirected(const char* path, char* const argv[], char* const environment[]) {
  if (!active() || path == nullptr) return NEXT(execve)(path, argv, environment);
  environment = CHILD_ENVIRONMENT(environment);
  char** room = ARGUMENT_ROOM(argv);
  Program program;
  if (const int failed = program.prepare(path, argv, room); failed < 0) return with_errno_int(failed);
  const int result = NEXT(execve)(program.path(), program.interprets() ? program.arguments() : argv, environment);
  if (errno != ENOENT || program.interprets()) return result;
  // Perhaps a script whose interpreter exists in the tree only.
  if (program.prepare(path, argv, room, true) < 0 || !program.interprets()) return with_errno_int(-ENOENT);
  return NEXT(execve)(program.path(), program.arguments(), environment);
}

// Starts a file by the shell, as execvp does where the kernel does not know the file's format.
int exec_by_shell(const char* path, char* const argv[], char* const environment[]) {
  const size_t count = count_of(argv);
  auto** shell = static_cast<char**>(alloca((count + 3) * sizeof(char*)));
  shell[0] = const_cast<char*>("/bin/sh");
  shell[1] = const_cast<char*>(path);
  size_t size = 2;
  for (size_t i = 1; i < count; ++i) shell[size++] = argv[i];
  shell[size] = nullptr;
  return exec_redirected(shell[0], shell, environment);
}

int exec_or_shell(const char* path, char* const argv[], char* const environment[]) {
  const int result = exec_redirected(path, argv, environment);
  return errno == ENOEXEC ? exec_by_shell(path, argv, environment) : result;
}

// Every directory of PATH, as execvp goes through them.
int exec_by_search(const char* file, char* const argv[], char* const environment[], const char* search) {
  bool denied = false;
  const size_t size = strlen(file);
  for (const char* at = search;; ++at) {
    const char* end = strchrnul(at, ':');
    Path path;
    path.append(at, static_cast<size_t>(end - at));
    if (path.size > 0) path.append("/", 1);
    path.append(file, size);
    if (!path.too_long()) {
      exec_or_shell(path.text, argv, environment);
      if (errno == EACCES)
        denied = true;
      else if (errno != ENOENT && errno != ESTALE && errno != ENOTDIR && errno != ENODEV && errno != ETIMEDOUT)
        return -1;
    }
    if (*end == '\0') break;
    at = end;
  }
  return with_errno_int(denied ? -EACCES : -ENOENT);
}

}  // namespace

bool search_meets_case(const char* search) {
  for (const char* at = search;; ++at) {
    const char* end = strchrnul(at, ':');
    Path path, buffer;
    path.append(at, static_cast<size_t>(end - at));
    if (path.size == 0 || path.text[0] != '/' || !locate(AT_FDCWD, path.text, buffer).outside()) return true;
    if (*end == '\0') return false;
    at = end;
  }
}

ENTRY(int, execve, (const char* path, char* const argv[], char* const environment[])) {
  return exec_redirected(path, argv, environment);
}
ENTRY(int, execv, (const char* path, char* const argv[])) {
  return exec_redirected(path, argv, environ);
}

ENTRY(int, execvpe, (const char* file, char* const argv[], char* const environment[])) {
  if (!active() || file == nullptr || *file == '\0') return NEXT(execvpe)(file, argv, environment);
  if (strchr(file, '/') != nullptr) return exec_or_shell(file, argv, environment);
  const char* search = getenv("PATH");
  if (search == nullptr || !search_meets_case(search)) return NEXT(execvpe)(file, argv, CHILD_ENVIRONMENT(environment));
  return exec_by_search(file, argv, environment, search);
}
ENTRY(int, execvp, (const char* file, char* const argv[])) {
  return entry_execvpe(file, argv, environ);
}

// The arguments of an execl as an array in the caller's frame.
#define GATHER_ARGUMENTS(argv, first, list)                                                     \
  va_list list, counted;                                                                        \
  va_start(list, first);                                                                        \
  va_copy(counted, list);                                                                       \
  size_t argv##_count = 1;                                                                      \
  if (first != nullptr)                                                                         \
    while (va_arg(counted, char*) != nullptr) ++argv##_count;                                   \
  va_end(counted);                                                                              \
  auto** argv = static_cast<char**>(alloca((argv##_count + 1) * sizeof(char*)));                \
  argv[0] = const_cast<char*>(first);                                                           \
  for (size_t i = 1; first != nullptr && i <= argv##_count; ++i) argv[i] = va_arg(list, char*); \
  if (first == nullptr) argv[1] = nullptr

ENTRY(int, execl, (const char* path, const char* first, ...)) {
  GATHER_ARGUMENTS(argv, first, list);
  va_end(list);
  return exec_redirected(path, argv, environ);
}
ENTRY(int, execlp, (const char* file, const char* first, ...)) {
  GATHER_ARGUMENTS(argv, first, list);
  va_end(list);
  return entry_execvpe(file, argv, environ);
}
ENTRY(int, execle, (const char* path, const char* first, ...)) {
  GATHER_ARGUMENTS(argv, first, list);
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return exec_redirected(path, argv, environment);
}

ENTRY(int, execveat, (int directory, const char* path, char* const argv[], char* const environment[], int flags)) {
  const Located location(directory, path);
  return NEXT(execveat)(location.directory, location.path, argv,
                        active() ? CHILD_ENVIRONMENT(environment) : environment, flags);
}

}  // namespace forebay::redirect
