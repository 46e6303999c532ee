// Errors of the public interface: a status of forebay/status.h with a message.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "forebay/status.h"

namespace forebay::api {

struct Failure {
  forebay_status status = FOREBAY_OK;
  std::string text;
};

template <class T>
using Outcome = tl::expected<T, Failure>;
using Done = Outcome<void>;

template <class... Arguments>
tl::unexpected<Failure> fail(forebay_status status, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return tl::unexpected<Failure>(Failure{status, fmt::format(text, std::forward<Arguments>(arguments)...)});
}

}  // namespace forebay::api
