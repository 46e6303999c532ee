// Errors of the trajectory are those of the public interface.
#pragma once

#include "api/failure.h"
#include "base/base.h"
#include "forebay/trajectory.h"

namespace forebay::trajectory {

using api::Done;
using api::fail;
using api::Failure;
using api::Outcome;

// An error of a lower room, under the code that fits.
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
