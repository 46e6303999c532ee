// What the mover does next. A pure decision about what a look at the tiers has found.
#pragma once

#include <cstdint>
#include <vector>

#include "trajectory/log.h"

namespace forebay::trajectory {

struct TierLook {
  std::uint32_t limit = 0;
  std::uint32_t room = 0;        // segments that it could take
  std::uint32_t oldest = kNone;  // the oldest segment that may leave it
  bool failing = false;          // what was last carried here failed, and not for lack of room
};

struct Look {
  std::vector<TierLook> tiers;
  std::uint32_t wanted = kNone;  // a reader waits for this segment
  // Somebody waits for it to be moved.
  struct {
    std::uint32_t segment = kNone;
    std::uint32_t tier = kNone;
  } request;
  bool writer_waits = false;
  bool reversing = false;
  std::uint32_t ahead = kNone;  // the segment that a reverse sweep wants next and that is not in memory
  bool ahead_has_buffer = false;
  bool read_only = false;
};

struct Job {
  enum class Kind { none, fetch, move, move_for_request, fetch_ahead } kind = Kind::none;
  std::uint32_t segment = kNone;
  std::uint32_t tier = kNone;  // to be moved to

  friend bool operator==(const Job&, const Job&) = default;
};

Job next_job(const Look& look);
// Whether a segment could leave a tier downwards, when those below make room first.
bool can_spill(const Look& look, std::size_t tier);

}  // namespace forebay::trajectory
