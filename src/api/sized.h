// Structs of the public interface begin with their size, as the program that was compiled with them knows it. They only
// grow at their end, so programs and libraries of different age understand each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include "forebay/types.h"

namespace forebay::api {

// The mistake in the size that a struct says it has, if any. A size that was never set must not be believed: as much
// would be read or cleared behind the struct. T is the first version of the struct, too, so far.
template <class T>
std::optional<std::string> wrong_size(const T& given, const char* name) {
  if (given.size >= sizeof(T) && given.size - sizeof(T) <= FOREBAY_MOST_GROWTH) return std::nullopt;
  return std::string("the size of ") + name + " is " + std::to_string(given.size) + ", not " +
         std::to_string(sizeof(T)) + ": set it to sizeof(" + name + ")";
}

// Members that this library does not know, of a struct that a newer program gives, must be zero, so that nothing that
// was asked is passed over in silence.
template <class T>
std::optional<std::string> wrong_to_read(const T& given, const char* name) {
  if (auto wrong = wrong_size(given, name)) return wrong;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
  if (std::all_of(bytes + sizeof(T), bytes + given.size, [](unsigned char byte) { return byte == 0; })) {
    return std::nullopt;
  }
  return std::string("this ") + name + " asks for what only a newer library knows";
}

// Its size stays what the program has set, and what this library does not know becomes zero.
template <class T>
void fill(T* to, T own) {
  own.size = to->size;
  std::memset(reinterpret_cast<unsigned char*>(to) + sizeof(T), 0, to->size - sizeof(T));
  std::memcpy(to, &own, sizeof(T));
}

}  // namespace forebay::api
