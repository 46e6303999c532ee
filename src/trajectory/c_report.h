// What the C interfaces share: outcomes become statuses, and the words of the last error are kept for each thread.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "trajectory/failure.h"

namespace forebay::trajectory {

int report(const Failure& failure) noexcept;
int missing(const char* what) noexcept;

// Calls and turns whatever comes out into a status: no exception passes. `use` receives the value of a call that has
// one.
template <class Call>
int run(Call&& call) noexcept {
  try {
    auto outcome = call();
    return outcome ? FOREBAY_OK : report(outcome.error());
  } catch (const std::bad_alloc&) {
    return report({FOREBAY_E_NO_MEMORY, "no memory"});
  } catch (const std::exception& exception) {
    return report({FOREBAY_E_IO, exception.what()});
  }
}

template <class Call, class Use>
int run(Call&& call, Use&& use) noexcept {
  return run([&] {
    auto outcome = call();
    if (outcome) use(*outcome);
    return outcome;
  });
}

}  // namespace forebay::trajectory
