// Reads states: holds their segments, compares what may be damaged with its checksums, and pins.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/trajectory/active.h"
#include "store/trajectory/doubts.h"
#include "store/trajectory/kept.h"
#include "store/trajectory/lender.h"
#include "store/trajectory/sweep.h"

namespace forebay::trajectory {

class Reader {
 public:
  Reader(Kept& kept, const Active& active);

  // A field of a state that lies in a segment; the state is pinned.
  Outcome<const void*> get(Entry& entry, int number);
  Done release(std::int64_t step);
  // The same for a state that is not encoded, in a segment that was read last or is being written: a handful of
  // instructions, so that the processor sees past them to the next state. nullptr and false where it takes more.
  const void* get_at_hand(std::int64_t step, int number) noexcept;
  bool release_at_hand(std::int64_t step) noexcept;
  // A sweep begins at `from`, below which the state of this entry comes first.
  void reverse(std::int64_t from, const Entry& first);

  // Pinned states of a segment, and of all.
  std::uint32_t pinned_in(std::uint32_t segment) const { return segment < pins_.size() ? pins_[segment] : 0; }
  std::uint64_t pinned() const;

  // States of this segment can be pinned.
  void make_room_for(std::uint32_t segment);
  // Gives back what is held for the next read only; false where nothing was.
  bool leave();
  Sweep& sweep() { return sweep_; }

 private:
  const std::byte* at_hand(std::uint32_t segment) const noexcept;
  Outcome<const std::byte*> hold(const Entry& entry);
  bool leave_last();
  bool must_verify(const Entry& entry) const noexcept;
  Done verify(const Entry& entry, const std::byte* base);
  void pin(Entry& entry) noexcept;
  void unpin(Entry& entry) noexcept;
  const void* pin(Entry& entry, const std::byte* base, int number) noexcept;

  Kept& kept_;
  const Active& active_;
  // The segment that was read last stays held, so that the next get needs no lock.
  std::uint32_t reading_ = kNone;
  const std::byte* reading_base_ = nullptr;
  Doubts doubts_;                    // of the segment that was read last
  std::vector<std::uint32_t> pins_;  // by segment: pinned steps there
  std::optional<Shown> shown_;       // with the option "debug"
  Sweep sweep_;
};

}  // namespace forebay::trajectory
