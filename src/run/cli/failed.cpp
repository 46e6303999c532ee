#include <fmt/format.h>

#include <cstdio>

#include "base/say.h"
#include "run/cli/commands.h"

namespace forebay::cli {

int failed(const Error& error) {
  say(stderr, "forebay: {}\n", error.text());
  return static_cast<int>(error.code);
}

}  // namespace forebay::cli
