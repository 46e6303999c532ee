#include "run/redirect/exec.h"
#include "run/redirect/link.h"

namespace forebay::redirect {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Splits "#!<interpreter> <one argument>" in place. False when `head` is not such a line.
bool split_script_line(char* head, char** interpreter, char** argument) {
  if (head[0] != '#' || head[1] != '!') return false;
  char* end = strchrnul(head, '\n');
  while (end > head + 2 && is_blank(end[-1])) --end;
  *end = '\0';
  char* at = head + 2;
  while (is_blank(*at)) ++at;
  if (*at == '\0') return false;
  *interpreter = at;
  while (*at != '\0' && !is_blank(*at)) ++at;
  if (*at != '\0') *at++ = '\0';
  while (is_blank(*at)) ++at;
  *argument = *at != '\0' ? at : nullptr;
  return true;
}

// The first bytes of a program that this process may execute; false where the kernel is to say what is wrong.
bool read_head(const Location& location, char* head, size_t size) {
#ifdef SYS_faccessat2
  const long allowed = system_call(SYS_faccessat2, location.directory, word(location.path), 1 /* X_OK */, AT_EACCESS);
  if (allowed < 0 && allowed != -ENOSYS) return false;
#endif
  const int fd = sys_openat(location.directory, location.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  const long count = system_call(SYS_read, fd, word(head), word(size - 1));
  sys_close(fd);
  if (count < 2) return false;
  head[count] = '\0';
  return true;
}

bool has_variable(char* const environment[], const char* entry) {
  const auto name = static_cast<size_t>(strchrnul(entry, '=') - entry) + 1;
  for (; *environment != nullptr; ++environment)
    if (strncmp(*environment, entry, name) == 0) return true;
  return false;
}

}  // namespace

int Program::prepare(const char* path, char* const argv[], char** arguments, bool forced) {
  const size_t count = count_of(argv);
  char** const last = arguments + room - 1;
  for (size_t i = 0; i <= count; ++i) last[i] = i < count ? argv[i] : nullptr;
  front_ = last;
  interprets_ = false;
  for (int level = 0;; ++level) {
    location_ = locate(AT_FDCWD, path, buffer_);
    follow(location_, buffer_);
    const bool mapped = location_.path != path && !location_.outside();
    if (!mapped && !(forced && level == 0)) return 0;
    if (level == levels) return -ELOOP;
    char* interpreter;
    char* argument;
    if (!read_head(location_, heads_[level], sizeof heads_[level]) ||
        !split_script_line(heads_[level], &interpreter, &argument))
      return 0;
    if (count == 0 && level == 0) {  // no argv[0] to give way
      last[0] = nullptr;
      last[1] = nullptr;
    }
    *front_ = const_cast<char*>(path);
    if (argument != nullptr) *--front_ = argument;
    *--front_ = interpreter;
    path = interpreter;
    interprets_ = true;
  }
}

char* const* child_environment(char* const environment[], char** room) {
  if (environment == nullptr) return environment;
  bool loads_us = false;
  for (char* const* entry = environment; *entry != nullptr; ++entry)
    if (strncmp(*entry, "LD_PRELOAD=", 11) == 0 && strstr(*entry, "libforebay_redirect") != nullptr) loads_us = true;
  if (!loads_us) return environment;
  size_t count = 0;
  for (; environment[count] != nullptr; ++count) room[count] = environment[count];
  const size_t before = count;
  for (int i = 0; i < state.stored.variable_count; ++i)
    if (!has_variable(environment, state.stored.variables[i]))
      room[count++] = const_cast<char*>(state.stored.variables[i]);
  room[count] = nullptr;
  return count == before ? environment : room;
}

}  // namespace forebay::redirect
