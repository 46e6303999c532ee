// The option "debug": what begin and get give is memory beside the tiers, so that a use of it which is no longer
// allowed is found. A write after commit, or to a state that was got, is a fault of the program at the line that
// writes. Memory that is no longer valid reads 0xfb in every byte, until it is given again some steps later.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "store/segment/mapping.h"
#include "store/trajectory/failure.h"

namespace forebay::trajectory {

// Memory of states that are written.
class Lender {
 public:
  // Memory of an open step. The memory of the step before is no longer valid.
  Outcome<std::byte*> lend(std::int64_t step, std::uint64_t bytes);
  const std::byte* lent() const { return lent_.bytes.data(); }
  // No longer to be written: the step is committed or cancelled.
  void protect();
  // The memory of the last step is no longer valid.
  void call_back();
  // The same, where the last one was this.
  void forget(std::int64_t step);

 private:
  std::int64_t step_ = 0;
  segment::Mapping lent_;  // in turns, so that what is no longer valid keeps its pattern for a step
  segment::Mapping lent_before_;
};

// Memory of states that are read.
class Shown {
 public:
  // A copy of a stored state, the same one until it is hidden.
  Outcome<const std::byte*> show(std::int64_t step, const std::byte* state, std::uint64_t bytes);
  void hide(std::int64_t step);

 private:
  static constexpr std::size_t kHidden = 4;

  std::map<std::int64_t, segment::Mapping> shown_;
  std::vector<segment::Mapping> hidden_;  // the latest last
};

}  // namespace forebay::trajectory
