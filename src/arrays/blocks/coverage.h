// How far its items cover a block: every position once, or which are missing and which come twice.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arrays/blocks/moves.h"

namespace forebay::blocks {

struct Twice {
  std::uint32_t position = 0;
  std::size_t first_peer = 0, second_peer = 0;
};

struct Coverage {
  std::uint64_t missing = 0;
  std::optional<std::uint32_t> first_missing;
  std::uint64_t duplicates = 0;
  std::optional<Twice> lowest_duplicate;
  // For each peer the rising places, in its section, of items that an earlier one has brought already.
  std::vector<std::vector<std::uint32_t>> repeated;
};

// All positions of `incoming` are below `block_items`.
Coverage cover(const Moves& incoming, std::uint64_t block_items);

}  // namespace forebay::blocks
