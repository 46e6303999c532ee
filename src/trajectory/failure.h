// Errors of the trajectory: the codes of forebay/trajectory.h with a message.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>

#include "base/base.h"
#include "forebay/trajectory.h"

namespace forebay::trajectory {

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
// What a lower room reports, under the code that fits.
Failure failure_of(const Error& error);
template <class T>
tl::unexpected<Failure> pass_on(const Result<T>& result) {
  return tl::unexpected<Failure>(failure_of(result.error()));
}
template <class T>
tl::unexpected<Failure> pass_on(const Outcome<T>& outcome) {
  return tl::unexpected<Failure>(outcome.error());
}

}  // namespace forebay::trajectory
