// Seconds, for what the caller is told.
#pragma once

#include <chrono>

namespace forebay::trajectory {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace forebay::trajectory
