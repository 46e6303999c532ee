// Errors are values. A Result<T> holds a T or an Error; a Status is a Result<void>.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace forebay {

// The kind of a failure; also the exit status of the command (docs/exit-codes.md).
enum class Code : int {
  failed = 1,     // anything without a kind of its own
  bad_input = 2,  // the command line, the configuration or the case is not usable; nothing was touched
  undrained = 3,  // data is still only local; `forebay drain --resume` carries it home
  lost = 4,       // data that the run made is gone (a wiped pool, a damaged journal)
  conflict = 5,   // the case changed under the run; both versions are kept
  pool_full = 6,  // a pool ran full while the program was writing
  busy = 7,       // another run holds the case
};

struct Error {
  Code code = Code::failed;
  std::string what;     // what was tried, for example "cannot open"
  std::string path;     // on which path; may be empty
  int errno_value = 0;  // 0 when no system call failed
  std::string advice;   // what the user can do; may be empty

  // One line: "cannot open /x/y: Permission denied; <advice>".
  std::string text() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// An Error from the current errno (read before anything else is done).
tl::unexpected<Error> errno_error(std::string_view what, std::string_view path, std::string_view advice = {});
// An Error without errno.
tl::unexpected<Error> error(Code code, std::string_view what, std::string_view path = {}, std::string_view advice = {});
// Passes the error of another Result on: `if (!r) return forward(r);`
template <class T>
tl::unexpected<Error> forward(const Result<T>& result) {
  return tl::unexpected<Error>(result.error());
}

}  // namespace forebay
