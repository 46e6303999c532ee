// Shared by the C++ faces: errors, and the types of numbers.
#ifndef FOREBAY_COMMON_HPP
#define FOREBAY_COMMON_HPP

#include <forebay/status.h>
#include <forebay/types.h>

#include <complex>
#include <stdexcept>
#include <type_traits>

namespace forebay {

// A status of the C functions, as an exception.
class CallError : public std::runtime_error {
 public:
  CallError(int status, const char* text) : std::runtime_error(text), status_(static_cast<forebay_status>(status)) {}
  forebay_status status() const { return status_; }

 private:
  forebay_status status_;
};

inline void check(int status) {
  if (status != FOREBAY_OK) throw CallError(status, forebay_error_get_text());
}

template <class Number>
constexpr forebay_type type_of() {
  constexpr int size = sizeof(Number) == 1 ? 0 : sizeof(Number) == 2 ? 1 : sizeof(Number) == 4 ? 2 : 3;
  if constexpr (std::is_same_v<Number, double>) {
    return FOREBAY_FLOAT64;
  } else if constexpr (std::is_same_v<Number, float>) {
    return FOREBAY_FLOAT32;
  } else if constexpr (std::is_same_v<Number, std::complex<double>>) {
    return FOREBAY_COMPLEX128;
  } else if constexpr (std::is_same_v<Number, std::complex<float>>) {
    return FOREBAY_COMPLEX64;
  } else if constexpr (std::is_same_v<Number, bool>) {
    return FOREBAY_BOOL;
  } else if constexpr (std::is_integral_v<Number> && !std::is_same_v<Number, char>) {
    static_assert(sizeof(Number) <= 8, "whole numbers have 64 bits at most");
    return static_cast<forebay_type>((std::is_signed_v<Number> ? FOREBAY_INT8 : FOREBAY_UINT8) + size);
  } else {
    static_assert(sizeof(Number) == 1, "there are numbers, and bytes");
    return FOREBAY_BYTES;
  }
}

}  // namespace forebay

#endif
