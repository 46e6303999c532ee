// How far a long run is: a line that is rewritten on a terminal, a line every ten seconds elsewhere. Rank 0 speaks.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace n3d {

class Progress {
 public:
  explicit Progress(bool speaks) : speaks_(speaks), terminal_(::isatty(STDERR_FILENO) != 0) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view what, std::int64_t done, std::int64_t all) {
    if (!speaks_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10'000))) return;
    last_ = now;
    fmt::print(stderr, "{}n3d: {} {} of {}{}", terminal_ ? "\r\033[K" : "", what, done, all, terminal_ ? "" : "\n");
    std::fflush(stderr);
    shown_ = terminal_;
  }
  // Before anything else is printed.
  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  bool speaks_, terminal_, shown_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace n3d
