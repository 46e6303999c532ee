// The start of a program that lies in the case.
#pragma once

#include "run/redirect/path.h"

namespace forebay::redirect {

// How the kernel is to start a program. A script of the case is not given to the kernel itself, which would tell the
// interpreter the local path, but started the way the kernel does it, with the path that the program used.
class Program {
 public:
  static constexpr int levels = 4;                // of scripts whose interpreter is a script, as the kernel's
  static constexpr size_t room = 2 * levels + 2;  // entries that `arguments` needs beyond those of argv

  // `arguments`: storage for the count of argv plus `room` pointers. `forced`: looks at a script outside the case too,
  // whose interpreter may lie in it. 0 or a negative errno.
  int prepare(const char* path, char* const argv[], char** arguments, bool forced = false);

  const char* path() const { return location_.path; }
  char* const* arguments() const { return front_; }
  bool interprets() const { return interprets_; }

 private:
  Path buffer_;
  Location location_{};
  char** front_ = nullptr;
  bool interprets_ = false;
  char heads_[levels][257];
};

inline size_t count_of(char* const list[]) {
  size_t count = 0;
  while (list != nullptr && list[count] != nullptr) ++count;
  return count;
}

// An environment that still loads this library, but lost what configures it, gets that back. `room`: storage for the
// count of `environment` plus State::max_variables + 1 pointers.
char* const* child_environment(char* const environment[], char** room);

// Whether a search through PATH can meet the case.
bool search_meets_case(const char* search);

}  // namespace forebay::redirect
