// States of which a field is encoded, as they are read: decoded when they are asked for, and in a sweep the next one
// ahead, where its segment is at hand (decoder.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "store/trajectory/active.h"
#include "store/trajectory/decoder.h"
#include "store/trajectory/kept.h"

namespace forebay::trajectory {

class Sweep {
 public:
  Sweep(Kept& kept, const Active& active) : kept_(kept), active_(active) {}

  // A field of a state in the segment that begins at `base`; from now on the state is pinned.
  Outcome<const std::byte*> decode(const Entry& entry, const std::byte* base, int number);
  void unpin(std::int64_t step);

  // Begins a sweep from this step on, downwards.
  void begin(std::int64_t from);
  // That state was read: the step below it may be decoded, if its segment is at hand.
  void decode_ahead(const Entry& read);
  void end();
  // From now on no segment is read ahead.
  void pause();
  // From now on no segment is read or held ahead; whether one was held.
  bool rest();
  bool holds(std::uint32_t segment) const { return segment == ahead_; }

  // The step's decoded fields count no more.
  void forget(std::int64_t step);
  void clear();
  std::uint64_t decoded_ahead(int number) const;

 private:
  Decoder& decoder();

  Kept& kept_;
  const Active& active_;
  bool sweeping_ = false;  // no state is pending then
  std::int64_t swept_to_ = 0;
  std::uint32_t ahead_ = kNone;  // the segment that is held, beside the one that was read last
  const std::byte* ahead_base_ = nullptr;
  std::unique_ptr<Decoder> decoder_;  // the last member: its thread reads segments
};

}  // namespace forebay::trajectory
