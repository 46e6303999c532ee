#include "arrays/blocks/method.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace forebay::blocks {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"serial",         "stdio", "mpi-independent", "mpi-noncollective",
                                                    "mpi-collective", "staged"};

constexpr std::string_view kPrefix = "FOREBAY_ARRAYS_";

Status check_variables() {
  const std::vector<std::string> known = {"METHOD", "HINTS", "POOL", "VERIFY", "LIBRARY"};  // the last is Python's
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = split(*entry, '=').front();
    if (!variable.starts_with(kPrefix)) continue;
    const std::string_view name = variable.substr(kPrefix.size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = closest(name, known);
    return error(Code::bad_input, "unknown environment variable " + printable(variable), {},
                 near.empty() ? "unset it; docs/arrays/arrays.md has those that are known"
                              : fmt::format("did you mean {}{}?", kPrefix, near));
  }
  return {};
}

// NULL where it is empty, too: that is how a script takes a variable back.
const char* value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

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
  if (auto ok = check_variables(); !ok) return forward(ok);
  if (const char* name = value_of("FOREBAY_ARRAYS_METHOD")) {
    auto method = method_named(name);
    if (!method) return forward(method);
    options.method = *method;
  }
  if (const char* pool = value_of("FOREBAY_ARRAYS_POOL")) options.pool = pool;
  if (const char* hints = value_of("FOREBAY_ARRAYS_HINTS")) {
    if (auto ok = options.add_hints(hints, "FOREBAY_ARRAYS_HINTS"); !ok) return forward(ok);
  }
  if (const char* verify = value_of("FOREBAY_ARRAYS_VERIFY")) {
    const std::string_view wanted = verify;
    if (wanted != "written" && wanted != "read-back") {
      return error(Code::bad_input, fmt::format("FOREBAY_ARRAYS_VERIFY is '{}'", printable(wanted)), {},
                   "written or read-back");
    }
    options.verify = wanted == "written" ? carry::Verify::written : carry::Verify::read_back;
  }
  return options;
}

}  // namespace forebay::blocks
