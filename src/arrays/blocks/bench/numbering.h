// The ways in which a partitioned mesh scatters global numbers over ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace forebay::blocks::bench {

// A well-mixed function of its argument (splitmix64, Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Numbers 1 .. items in runs of `run` on random ranks; those of this rank, rising, or shuffled.
inline std::vector<std::uint64_t> scattered(std::uint64_t items, std::uint64_t run, int ranks, int rank,
                                            bool shuffled) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t first = 0; first < items; first += run) {
    if (mixed(first / run) % static_cast<std::uint64_t>(ranks) != static_cast<std::uint64_t>(rank)) continue;
    for (std::uint64_t i = first; i < std::min(first + run, items); ++i) numbers.push_back(i + 1);
  }
  if (shuffled) std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(static_cast<std::uint64_t>(rank)));
  return numbers;
}

}  // namespace forebay::blocks::bench
