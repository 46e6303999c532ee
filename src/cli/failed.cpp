#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"

namespace forebay::cli {

int failed(const Error& error) {
  fmt::print(stderr, "forebay: {}\n", error.text());
  return static_cast<int>(error.code);
}

}  // namespace forebay::cli
