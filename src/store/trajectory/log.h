// Which segments a trajectory has, and where each lies: in one place, a slot of one tier. A table, which touches no
// memory of a segment and knows neither locks nor threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "store/segment/segment.h"
#include "store/trajectory/place.h"

namespace forebay::trajectory {

struct Segment {
  std::uint64_t generation = 0;  // 0: its number is not in use
  segment::Extent extent;
  Place place;
  std::uint32_t buffer = kNone;  // of the read cache: there is a copy of it
  std::uint32_t live = 0;        // records that count
  std::int64_t highest = 0;      // step of them, or of one that was dropped
  std::uint32_t holds = 0;       // by readers: it stays where it is
  std::uint32_t arrivals = 0;    // of its bytes from where they may have been damaged
  bool checked = false;          // a record has a checksum
  bool sealed = false;
  bool moving = false;  // the spiller reads or writes it

  bool used() const { return generation != 0; }
  bool movable() const { return used() && sealed && !moving && holds == 0; }
};

// The slots of one tier. Beside what the budget gives there is one, in the first tier, which only cleaning may use.
struct Slots {
  std::vector<std::uint32_t> free;                  // that exist and hold nothing; taken from the back
  std::uint32_t made = 0;                           // that exist
  std::uint32_t limit = 0;                          // that may hold segments, by the budget
  std::uint32_t found_full = kNone;                 // the medium had room for so many and no more, when it was tried
  bool streamed = false;                            // they have no memory: what lies there is fetched to be read
  bool making = false;                              // a thread makes the next one
  std::map<std::uint64_t, std::uint32_t> resident;  // generation -> segment
  std::vector<bool> headed;                         // by slot: it has been used, and has a header

  std::uint32_t used() const { return made - static_cast<std::uint32_t>(free.size()); }
  // That may hold segments, as far as the medium is known to have room.
  std::uint32_t most() const { return std::min(limit, found_full); }
  std::uint32_t room() const { return most() > used() ? most() - used() : 0; }
  void add() { free.insert(free.begin(), made++); }  // so that they come into use in order
  void set_headed(std::uint32_t slot) {
    if (headed.size() <= slot) headed.resize(slot + 1, false);
    headed[slot] = true;
  }
  std::uint32_t take() {
    const std::uint32_t slot = free.back();
    free.pop_back();
    return slot;
  }
};

class Log {
 public:
  void begin(std::size_t tiers) { slots_.resize(tiers); }
  std::uint32_t tiers() const { return static_cast<std::uint32_t>(slots_.size()); }
  Slots& tier(std::uint32_t number) { return slots_[number]; }
  const Slots& tier(std::uint32_t number) const { return slots_[number]; }
  Segment& operator[](std::uint32_t number) { return segments_[number]; }
  const Segment& operator[](std::uint32_t number) const { return segments_[number]; }
  // Whether it can be read at once, where it lies or in the read cache.
  bool at_hand(std::uint32_t number) const {
    return !slots_[segments_[number].place.tier].streamed || segments_[number].buffer != kNone;
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(segments_.size()); }

  // A segment in a slot that was taken.
  std::uint32_t add(std::uint64_t generation, Place place);
  // It lies in another slot from now on, and the one before is free.
  void relocate(std::uint32_t number, Place to);
  void erase(std::uint32_t number);
  void clear();
  Held held(std::uint32_t tier) const;
  // The movable one with the fewest records, of those that have fewer than `records`, and some; kNone.
  std::uint32_t sparsest(std::uint32_t records) const;

 private:
  std::vector<Slots> slots_;
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace forebay::trajectory
