#include "blocks/coverage.h"

namespace forebay::blocks {
namespace {

// Calls act(position, place in the section) for every item of a peer, until it returns false.
template <class Act>
void each_item(const Moves& moves, std::size_t peer, Act act) {
  std::uint32_t place = 0;
  if (moves.kept() == Moves::Kept::pairs) {
    for (const std::uint32_t position : moves.to(peer)) {
      if (!act(position, place++)) return;
    }
    return;
  }
  for (const Run& run : moves.runs(peer)) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      if (!act(run.to + i, place++)) return;
    }
  }
}

bool brings(const Moves& moves, std::size_t peer, std::uint32_t position) {
  bool found = false;
  each_item(moves, peer, [&](std::uint32_t at, std::uint32_t) { return !(found = at == position); });
  return found;
}

}  // namespace

Coverage cover(const Moves& incoming, std::uint64_t block_items) {
  Coverage coverage;
  coverage.repeated.resize(incoming.sections());
  std::vector<std::uint64_t> seen((block_items + 63) / 64);
  for (std::size_t peer = 0; peer < incoming.sections(); ++peer) {
    each_item(incoming, peer, [&](std::uint32_t position, std::uint32_t place) {
      std::uint64_t& word = seen[position / 64];
      const std::uint64_t bit = std::uint64_t{1} << position % 64;
      if ((word & bit) != 0) {
        coverage.repeated[peer].push_back(place);
        ++coverage.duplicates;
        if (!coverage.lowest_duplicate || position < coverage.lowest_duplicate->position) {
          coverage.lowest_duplicate = Twice{position, peer, peer};
        }
      }
      word |= bit;
      return true;
    });
  }
  if (coverage.duplicates > 0) {
    Twice& twice = *coverage.lowest_duplicate;
    twice.first_peer = 0;
    while (!brings(incoming, twice.first_peer, twice.position)) ++twice.first_peer;
  }
  if (incoming.items() - coverage.duplicates == block_items) return coverage;
  for (std::uint64_t position = 0; position < block_items; ++position) {
    if ((seen[position / 64] >> position % 64 & 1) != 0) continue;
    ++coverage.missing;
    if (!coverage.first_missing) coverage.first_missing = static_cast<std::uint32_t>(position);
  }
  return coverage;
}

}  // namespace forebay::blocks
