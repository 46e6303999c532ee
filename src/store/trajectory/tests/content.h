// The states that tests of any order of operations store: a step has versions, and each tells which it is.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "store/trajectory/tests/flow.h"

namespace forebay {

// The content of a state: words that no two versions share, or waves that are stored within an error.
struct Content {
  std::uint64_t words;
  double accepted = 0;

  int declare(forebay_trajectory* t) const {
    const forebay_type type = accepted > 0 ? FOREBAY_FLOAT64 : FOREBAY_BYTES;
    const std::uint64_t count = accepted > 0 ? words : 8 * words;
    const int status = forebay_trajectory_declare(t, "u", type, count, nullptr);
    return status != FOREBAY_OK ? status : forebay_trajectory_set_accepted_error(t, 0, accepted);
  }
  void fill(std::uint64_t* u, std::int64_t step, std::uint64_t version) const {
    if (accepted > 0) {
      std::memcpy(u, Flow::state(words, step, version).data(), 8 * words);
      return;
    }
    for (std::uint64_t i = 0; i < words; ++i) u[i] = word(step, version, i);
  }
  bool is(const std::uint64_t* u, std::int64_t step, std::uint64_t version) const {
    if (accepted > 0) {
      const std::span stored(reinterpret_cast<const double*>(u), words);
      const std::vector<double> exact = Flow::state(words, step, version);
      return codec::test::error_between(std::span<const double>(exact), stored) <= accepted * (1 + 1e-9);
    }
    for (std::uint64_t i = 0; i < words; ++i) {
      if (u[i] != word(step, version, i)) return false;
    }
    return true;
  }

 private:
  static std::uint64_t word(std::int64_t step, std::uint64_t version, std::uint64_t i) {
    return (static_cast<std::uint64_t>(step) * 0x9e3779b97f4a7c15u) ^ (version << 20) ^ i;
  }
};

}  // namespace forebay
