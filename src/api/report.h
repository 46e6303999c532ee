// Outcomes become statuses, and their words the last error of the thread.
#pragma once

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "api/failure.h"
#include "api/sized.h"

namespace forebay::api {

int report(const Failure& failure) noexcept;
int missing(const char* what) noexcept;

// Copies a text into memory of the program, with a NUL at its end. The result is its length, whether it fits or not.
std::size_t copy_text(std::string_view text, char* buffer, std::size_t bytes) noexcept;

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

// Why nothing can be told in a struct of a program; 0 when it can.
template <class T>
int unfit(const T* place, const char* name) noexcept {
  if (place == nullptr) return missing(name);
  return run([&]() -> Done {
    if (const auto wrong = wrong_size(*place, name)) return fail(FOREBAY_E_INVALID, "{}", *wrong);
    return {};
  });
}
// Why it cannot be read; 0 when it can.
template <class T>
int unreadable(const T* given, const char* name) noexcept {
  if (given == nullptr) return missing(name);
  return run([&]() -> Done {
    if (const auto wrong = wrong_to_read(*given, name)) return fail(FOREBAY_E_INVALID, "{}", *wrong);
    return {};
  });
}

}  // namespace forebay::api
