#include "base/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "base/text.h"

namespace forebay {

std::string Error::text() const {
  std::string line = what;
  if (!path.empty()) line += " " + printable(path);
  if (errno_value != 0) line += ": " + std::generic_category().message(errno_value);
  if (!advice.empty()) line += "; " + advice;
  return line;
}

tl::unexpected<Error> errno_error(std::string_view what, std::string_view path, std::string_view advice) {
  const int saved = errno;
  return tl::unexpected<Error>(Error{Code::failed, std::string(what), std::string(path), saved, std::string(advice)});
}

tl::unexpected<Error> error(Code code, std::string_view what, std::string_view path, std::string_view advice) {
  return tl::unexpected<Error>(Error{code, std::string(what), std::string(path), 0, std::string(advice)});
}

}  // namespace forebay
