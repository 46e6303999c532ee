// How runs share the space of a pool: what one may hold there now. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::launch {

// A run's message about itself to the user's other runs on the node.
struct Claim {
  std::uint64_t budget = 0;  // bytes that it may hold
  std::uint64_t held = 0;    // bytes that it holds
  std::uint64_t rest() const { return budget > held ? budget - held : 0; }
  friend bool operator==(const Claim&, const Claim&) = default;
};

// The most that a run may hold now: its budget, or less where its mount has too little free bytes. Bytes that the other
// runs may still take are not counted as free. But a run always gets half of an equal part of the space: one that came
// first and may take all of it would else keep every other run from working. All runs together fit.
std::uint64_t limit_of(const Claim& own, std::uint64_t free_bytes, std::span<const Claim> others);

// The least budget that serves so many ranks. Forebay's own files there must fit below the lowest mark at which
// programs go on (pressure.cpp), beside the journal, which reserves an eighth of the budget (journal/journal.cpp). Two
// digits and zeros: as people read it, it can be given.
std::uint64_t least_budget(int ranks);

// The bytes that a run holds between two counts of its files. A count takes long where the files are many; to ask a
// mount for its free bytes does not.
class Holding {
 public:
  // The caller tells it often. Where the free bytes fall, this run may have written; where they rise, who knows who
  // freed them.
  void free_is(std::uint64_t bytes);
  void count_begins();
  void counted(std::uint64_t bytes);
  std::uint64_t at_last_count() const { return counted_; }
  // Since then the run has written no more than all have: what others free meanwhile hides nothing.
  std::uint64_t at_most() const { return counted_ + (taken_ - taken_before_count_); }
  // Something has changed since the last count began.
  bool is_stale() const { return stale_; }

 private:
  std::uint64_t free_ = 0, counted_ = 0;
  std::uint64_t taken_ = 0, taken_before_count_ = 0, taken_at_begin_ = 0;  // by anybody
  bool known_ = false, stale_ = true;
};

}  // namespace forebay::launch
