#include "arrays/blocks/coverage.h"

#include <algorithm>
#include <bit>

namespace forebay::blocks {
namespace {

// Calls act(run) for every run of a peer, `from` counted in its section, until it returns false.
template <class Act>
void each_run(const Moves& moves, std::size_t peer, Act act) {
  std::uint32_t place = 0;
  if (moves.form() == Moves::Form::places) {
    for (const std::uint32_t position : moves.to(peer)) {
      if (!act(Run{place++, position, 1})) return;
    }
    return;
  }
  for (const Run& run : moves.runs(peer)) {
    if (!act(Run{place, run.to, run.count})) return;
    place += run.count;
  }
}

bool brings(const Moves& moves, std::size_t peer, std::uint32_t position) {
  bool found = false;
  each_run(moves, peer, [&](const Run& run) { return !(found = position - run.to < run.count); });
  return found;
}

// Marks `count` positions from `first` on, a word at a time; calls act(position) for those that are marked already.
template <class Act>
void mark(std::vector<std::uint64_t>& seen, std::uint32_t first, std::uint32_t count, Act act) {
  for (const std::uint32_t end = first + count; first < end;) {
    const std::uint32_t bit = first % 64, bits = std::min(end - first, 64 - bit);
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits) << bit;
    std::uint64_t& word = seen[first / 64];
    for (std::uint64_t twice = word & mask; twice != 0; twice &= twice - 1) {
      act(first - bit + static_cast<std::uint32_t>(std::countr_zero(twice)));
    }
    word |= mask;
    first += bits;
  }
}

}  // namespace

Coverage cover(const Moves& incoming, std::uint64_t block_items) {
  Coverage coverage;
  coverage.repeated.resize(incoming.sections());
  std::vector<std::uint64_t> seen((block_items + 63) / 64);
  for (std::size_t peer = 0; peer < incoming.sections(); ++peer) {
    const auto repeated = [&](std::uint32_t position, std::uint32_t place) {
      coverage.repeated[peer].push_back(place);
      ++coverage.duplicates;
      if (!coverage.lowest_duplicate || position < coverage.lowest_duplicate->position) {
        coverage.lowest_duplicate = Twice{position, peer, peer};
      }
    };
    each_run(incoming, peer, [&](const Run& run) {
      mark(seen, run.to, run.count, [&](std::uint32_t position) { repeated(position, run.from + position - run.to); });
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
