// Made-up ownership of global numbers, and items by which they can be known again.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "arrays/blocks/bench/numbering.h"
#include "arrays/blocks/blocks.h"

namespace forebay::blocks {

struct Numbering {
  std::uint64_t items = 0;
  std::uint64_t seed = 0;
  std::uint64_t run = 1;     // how many that follow each other lie on one rank
  int empty_rank = -1;       // has nothing, where there are others
  bool with_ghosts = false;  // a tenth of the items lies on a second rank too
  int ordered_rank = -1;     // has its numbers in rising order
};

using bench::mixed;

// Those of one rank, in no order but for the one that has.
inline std::vector<std::uint64_t> numbers_of(const Numbering& numbering, int ranks, int rank) {
  std::vector<std::uint64_t> numbers;
  const auto owner = [&](std::uint64_t what) {
    const int who = static_cast<int>(mixed(what) % index(ranks));
    return who == numbering.empty_rank ? (who + 1) % ranks : who;
  };
  for (std::uint64_t i = 0; i < numbering.items; ++i) {
    const std::uint64_t key = i / numbering.run * 1000 + numbering.seed;
    const int first = owner(key), second = owner(key + 7);
    const bool ghost = numbering.with_ghosts && mixed(key + 13) % 10 == 0 && second == rank;
    if (first == rank || ghost) numbers.push_back(i + 1);
  }
  // Runs stay, in random order; without them everything is shuffled.
  if (rank == numbering.ordered_rank) return numbers;
  std::mt19937_64 random(numbering.seed + index(rank));
  if (numbering.run == 1) {
    std::shuffle(numbers.begin(), numbers.end(), random);
  } else {
    std::rotate(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 3), numbers.end());
  }
  return numbers;
}

// Byte `k` of the item with a number.
inline std::byte byte_of(std::uint64_t number, std::size_t k) {
  return static_cast<std::byte>((number * 2654435761U >> 8 * (k % 4)) + k);
}

inline std::vector<std::byte> items_of(const std::vector<std::uint64_t>& numbers, std::size_t item_bytes) {
  std::vector<std::byte> items;
  items.reserve(numbers.size() * item_bytes);
  for (const std::uint64_t number : numbers) {
    for (std::size_t k = 0; k < item_bytes; ++k) items.push_back(byte_of(number, k));
  }
  return items;
}

inline std::vector<std::byte> items_of(Range block, std::size_t item_bytes) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = block.first; i < block.end(); ++i) numbers.push_back(i + 1);
  return items_of(numbers, item_bytes);
}

// What a test cannot go on without; the other ranks would wait for ever.
inline void must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().text().c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

template <class T>
T must(Result<T> result) {
  must(result ? Status{} : Status(forward(result)));
  return std::move(*result);
}

}  // namespace forebay::blocks
