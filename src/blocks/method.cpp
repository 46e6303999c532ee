#include "blocks/method.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace forebay::blocks {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"serial",         "stdio", "mpi-independent", "mpi-noncollective",
                                                    "mpi-collective", "staged"};

}  // namespace

std::string_view name_of(Method method) {
  return kNames[static_cast<std::size_t>(method)];
}

Result<Method> method_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Method>(i);
  }
  const std::string near = closest(name, {kNames.begin(), kNames.end()});
  return error(Code::bad_input, "unknown method '" + printable(name) + "'", {},
               near.empty() ? "serial, stdio, mpi-independent, mpi-noncollective, mpi-collective or staged"
                            : "did you mean " + near + "?");
}

Status Options::add_hints(std::string_view text, std::string_view from) {
  for (const std::string_view hint : split(text, ',')) {
    const std::size_t equals = hint.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return error(Code::bad_input, fmt::format("not a hint in {}: '{}'", from, printable(hint)), {},
                   "write name=value,name=value");
    }
    hints.emplace_back(hint.substr(0, equals), hint.substr(equals + 1));
  }
  return {};
}

Result<Options> Options::from_environment(Options options) {
  if (const char* name = std::getenv("FOREBAY_BLOCKS_METHOD")) {
    auto method = method_named(name);
    if (!method) return forward(method);
    options.method = *method;
  }
  if (const char* pool = std::getenv("FOREBAY_BLOCKS_POOL")) options.pool = pool;
  if (const char* hints = std::getenv("FOREBAY_BLOCKS_HINTS")) {
    if (auto ok = options.add_hints(hints, "FOREBAY_BLOCKS_HINTS"); !ok) return forward(ok);
  }
  if (const char* verify = std::getenv("FOREBAY_BLOCKS_VERIFY")) {
    const std::string_view wanted = verify;
    if (wanted != "written" && wanted != "read-back") {
      return error(Code::bad_input, fmt::format("FOREBAY_BLOCKS_VERIFY is '{}'", printable(wanted)), {},
                   "written or read-back");
    }
    options.verify = wanted == "written" ? carry::Verify::written : carry::Verify::read_back;
  }
  return options;
}

}  // namespace forebay::blocks
