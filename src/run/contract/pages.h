// The files that the agent of a node and the library in its programs map together. The agent makes both before any
// program starts; who resumes the run reads them afterwards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "run/contract/contract.h"

namespace forebay::contract {

// The ranks' page: 64-bit words, lines of `hold_line` of them, the first for the node, the others for one rank each
// (the first of these for the case itself, where it is in one piece).
//
// Of the node's line:
//   hold_held      while it is not zero, ranks free nothing that they have handed over
//   hold_lines     the number of lines for ranks
//   hold_complete  a time: it is complete over all ranks, and each frees what it has handed over of older ones
//   hold_renamed   while it is not zero, a rank's directory may have another name than it had, or hold a link that
//                  leads out of the case, and no path goes there at once
//   hold_version   the contract of the agent; a library of another one leaves its program alone
// Of a rank's line, times:
//   hold_left      the time that the rank left last, when it began another, and of which it lacks nothing
//   hold_first_lacking, hold_last_lacking  between them lie the times that may lack something: the rank could not hand
//                  something over, or found the pool full when it had written it. None: the first is the later one.
// The oldest of the times that ranks left last is complete where it lies between no rank's two.
//
// A time is the value of its name (time_name.h), as a double. `no_time` for left and complete: none. `every_time` for
// left: the rank is not to be waited for.
inline constexpr std::size_t hold_line = 8;
inline constexpr std::size_t hold_held = 0, hold_lines = 1, hold_complete = 2, hold_renamed = 3, hold_version = 4;
inline constexpr std::size_t hold_left = 0, hold_first_lacking = 1, hold_last_lacking = 2;
inline constexpr double no_time = -__builtin_inf(), every_time = __builtin_inf();

// The first word of a rank's line. `rank`: 0 for the case itself.
constexpr std::size_t hold_line_of(std::size_t rank) {
  return (rank + 1) * hold_line;
}
constexpr std::size_t hold_bytes(std::size_t lines) {
  return hold_line_of(lines) * sizeof(std::uint64_t);
}

// A file system with less than this left gives no-space to nearly every write.
inline constexpr std::uint64_t as_good_as_full = std::uint64_t{64} << 10;

// Calls that failed. Allocated when it is made: a full pool must not kill who notes that it is full.
struct WriteErrors {
  static constexpr int slots = 7;

  // One call that failed with ENOSPC, EDQUOT or EIO on what lies in the tree.
  struct Slot {
    std::atomic<std::uint32_t> written;  // not zero: the rest of the slot is there
    std::int32_t error;                  // errno; 0: a stream had it, and kept no reason
    char path[1008];                     // in the case, or absolute; of a longer one the end, behind "..."
  };

  std::uint64_t version;             // of the contract, set last; with another one nothing is noted
  std::uint64_t closing_fails;       // not zero: the pools' file systems may tell an error only when a file is closed
  std::atomic<std::uint64_t> count;  // of the calls that failed: each takes the slot of its number, if there is one
  std::atomic<std::uint64_t> programs;  // that have begun to note what fails
  std::uint64_t unused[4];
  Slot slot[slots];
};
inline constexpr std::size_t errors_bytes = 8192;
static_assert(sizeof(WriteErrors) <= errors_bytes);

}  // namespace forebay::contract
