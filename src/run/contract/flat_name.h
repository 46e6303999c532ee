// Flat names: a file of a time by one name in one directory, "0.1/uniform/time" as "0.1%2Funiform%2Ftime". Making and
// removing directories would cost as much as the links themselves, in the middle of the program's time step.
#pragma once

#include <cstddef>

namespace forebay::contract {

// Calls put(bytes, count) for each piece of the path's flat name. Pieces of a path give pieces of its name.
template <class Put>
constexpr void put_flat(const char* path, std::size_t size, const Put& put) {
  for (std::size_t i = 0; i < size; ++i) {
    if (path[i] == '/') {
      put("%2F", std::size_t{3});
    } else if (path[i] == '%') {
      put("%25", std::size_t{3});
    } else {
      put(path + i, std::size_t{1});
    }
  }
}

}  // namespace forebay::contract
