// Names of output times. Ranks and the agent tell each other times by value, so all must read the same value from a
// name. Nothing here overflows, divides by zero or is invalid: OpenFOAM has the processor signal that.
#pragma once

#include <cfloat>
#include <cstddef>

namespace forebay::contract {

// A decimal number with nothing around it, as OpenFOAM writes it: "0.005", "1e-05", "-180". OpenFOAM's own reader takes
// "+1" and "0x10", too (and stops with a floating point exception at a directory named "nan"); no solver writes those,
// and such a directory is more likely something else. A name that begins with a dot is not listed.
constexpr bool is_time_name(const char* name, std::size_t size) {
  constexpr std::size_t longest = 255;  // of a file's name
  if (size == 0 || size > longest || name[0] == '.') return false;
  std::size_t at = name[0] == '-' ? 1 : 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < size && name[at] >= '0' && name[at] <= '9') ++at;
    return at - first;
  };
  std::size_t count = digits();
  if (at < size && name[at] == '.') {
    ++at;
    count += digits();
  }
  if (count == 0) return false;
  if (at == size) return true;
  if (name[at] != 'e' && name[at] != 'E') return false;
  ++at;
  if (at < size && (name[at] == '+' || name[at] == '-')) ++at;
  return digits() > 0 && at == size;
}

// Times closer to zero, or further away, have these values.
inline constexpr double least_time = 1e-300, largest_time = 1e300;

// The value of a time's name. The C library's own would ask the locale for the decimal point. Up to 19 digits are
// exact, so times that differ have different values in the order of their names.
constexpr double value_of(const char* name, std::size_t size) {
  constexpr int most = 4000;  // of an exponent: a name has at most 255 digits, and a long double must hold the quotient
  static_assert(LDBL_MAX_10_EXP > most + 300);
  const auto digit_at = [name](std::size_t at) { return name[at] >= '0' && name[at] <= '9' ? name[at] - '0' : -1; };
  const bool below_zero = name[0] == '-';
  long double value = 0;
  int scale = 0;
  std::size_t at = below_zero ? 1 : 0;
  for (bool fraction = false; at < size && name[at] != 'e' && name[at] != 'E'; ++at) {
    if (name[at] == '.') fraction = true;
    if (digit_at(at) < 0) continue;
    value = value * 10 + digit_at(at);
    if (fraction) --scale;
  }
  int exponent = 0;
  const bool divides = at + 1 < size && name[at + 1] == '-';
  for (; at < size; ++at)
    if (digit_at(at) >= 0 && exponent < most) exponent = exponent * 10 + digit_at(at);
  if (exponent > most) exponent = most;
  scale += divides ? -exponent : exponent;
  for (; scale > 0 && value < largest_time; --scale) value *= 10;
  long double divisor = 1;
  for (; scale < 0; ++scale) divisor *= 10;
  value /= divisor;
  if (value > largest_time) value = largest_time;
  if (value > 0 && value < least_time) value = least_time;
  return static_cast<double>(below_zero ? -value : value);
}

}  // namespace forebay::contract
