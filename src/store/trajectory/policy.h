// The spiller's next job: the wishes, the situation of the tiers, and a pure decision about them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/trajectory/failure.h"
#include "store/trajectory/log.h"
#include "store/trajectory/read_cache.h"

namespace forebay::trajectory {

// The wishes of the trajectory's thread to the two others.
struct Wishes {
  struct {
    bool waits = false;
    bool wants_next = false;  // it waits, or has announced that it will
    bool took_one = false;
    bool always_wants = false;  // it waited for memory, with one to write meanwhile: half a segment is too late
  } writer;
  std::uint32_t segment = kNone;       // of a reader, who waits for it
  std::optional<Failure> not_fetched;  // why it does not come
  struct {
    std::uint32_t segment = kNone;
    std::uint32_t tier = kNone;
    std::optional<Done> outcome;
  } move;
  bool reversing = false;
  std::uint64_t cursor = 0;  // generation of the segment that was read last
};

struct TierSituation {
  std::uint32_t limit = 0;
  std::uint32_t room = 0;        // segments that it could take
  std::uint32_t oldest = kNone;  // the oldest segment that may leave it
  bool failing = false;          // what was last carried here failed, and not for lack of room
};

struct Situation {
  std::vector<TierSituation> tiers;
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

// `failing`: of each tier, whether what was last carried there failed, and not for lack of room.
Situation situation_of(const Log& log, const ReadCache& cache, const Wishes& wishes, const std::vector<bool>& failing,
                       bool read_only);
Job next_job(const Situation& situation);
// Whether a segment could leave a tier downwards, when those below make room first.
bool can_spill(const Situation& situation, std::size_t tier);

}  // namespace forebay::trajectory
