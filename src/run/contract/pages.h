// The files that the agent of a node and the library in its programs map together. The agent makes both before any
// program starts; who resumes the run reads them afterwards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "run/contract/contract.h"

namespace forebay::contract {

// The ranks' page: the node's words, then a page for each rank of the run (the first of these for the case itself,
// where it is in one piece). The library writes down what its rank does; it decides nothing.
//
// A *line* is one time of a rank as it was begun: the main thread made the time's directory, or wrote into one that is
// not its newest line (docs/design.md, "Facts at rest", S1). The newest `most_lines` are there.
struct TimeLine {
  static constexpr std::size_t name_words = 3;

  std::atomic<std::uint64_t> sequence;  // counts the rank's lines from 1; set last, and 0 while the line is written
  std::atomic<std::uint64_t> begun_at;  // CLOCK_REALTIME_COARSE in nanoseconds, the clock that stamps files
  std::atomic<std::uint64_t> state;     // of the states of this rank, counted from 1; 0: no `uniform/time` was made
  std::atomic<std::uint64_t> mesh;      // sequence of the line whose polyMesh it uses; 0: none
  std::atomic<std::uint64_t> flags;     // line_*
  std::atomic<std::uint64_t> name[name_words];  // the time's name; nothing where it is longer
};
inline constexpr std::uint64_t line_is_cut = 1;            // a write to it failed
inline constexpr std::uint64_t line_was_begun_before = 2;  // the rank had begun a line of this time before
inline constexpr std::size_t most_time_name = TimeLine::name_words * sizeof(std::uint64_t);

struct RankPage {
  static constexpr std::size_t most_lines = 255;

  std::atomic<std::uint64_t> begun;   // sequence of the newest line
  std::atomic<std::uint64_t> states;  // how many states it has made
  std::atomic<std::uint64_t>
      place;  // sequence of the line that its writing threads have come to; 0: none has shown itself
  std::atomic<std::uint64_t> mesh;   // sequence of the line with the newest polyMesh; 0: none
  std::atomic<std::uint64_t> ended;  // not zero: the agent has seen the program end well
  std::atomic<std::uint64_t> kept;   // times that the rank has purged since the agent looked
  std::uint64_t unused[2];
  TimeLine lines[most_lines];  // sequence modulo `most_lines`

  TimeLine& line(std::uint64_t sequence) { return lines[sequence % most_lines]; }
  const TimeLine& line(std::uint64_t sequence) const { return lines[sequence % most_lines]; }
};

struct NodePage {
  std::atomic<std::uint64_t> version;  // of the agent's contract; a library of another one leaves its program alone
  std::atomic<std::uint64_t> ranks;    // how many pages follow
  // While it is not zero, a rank's directory may have another name than it had, or hold a link that leads out of the
  // case, and no path goes there at once.
  std::atomic<std::uint64_t> renamed;
  std::atomic<std::uint64_t> look;  // not zero: the agent is to look soon, since a rank has purged many times
  std::uint64_t unused[4];

  RankPage* pages() { return reinterpret_cast<RankPage*>(this + 1); }
  const RankPage* pages() const { return reinterpret_cast<const RankPage*>(this + 1); }
};
constexpr std::size_t bytes_of_pages(std::size_t ranks) {
  return sizeof(NodePage) + ranks * sizeof(RankPage);
}
// So many purged times a rank may have before it asks for a look.
inline constexpr std::uint64_t most_kept = 4;

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
