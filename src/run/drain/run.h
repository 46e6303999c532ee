// The run, as all parts of a Drain know it: where it works, the ledger with its journal, the witnesses of what the
// program does, and what people are told. Private to the room.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/drain/drain.h"
#include "run/drain/failed_writes.h"
#include "run/drain/pages.h"
#include "run/drain/uncarried.h"
#include "run/drain/watch.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {

// The part of a Drain that carries (state.h).
struct Work;

// How far the run is: the program works, what is left is carried, its removals follow, all is done.
enum class Phase { running, carrying, removing, done };

using RankTimes = std::set<std::pair<int, std::string>>;

// They tell what the program does.
struct Witnesses {
  std::optional<Watcher> watcher = {};             // the kernel's events of files; none once the program has ended
  bool lost_events = false;                        // some were not told, and nobody has looked for them yet
  std::optional<Pages> pages = {};                 // where the redirection library writes down the times of ranks
  std::optional<FailedWrites> failed_writes = {};  // where that library is loaded
  std::uint64_t failures_seen = 0;                 // of them
  bool pool_is_full = false, pool_was_scarce = false;

  core::Page page_of(int rank) const { return pages ? pages->page_of(rank) : core::Page{}; }
  // The library writes down the times of this rank, and keeps what it purges.
  bool tell_of(int rank) const { return page_of(rank).begun != 0; }
};

struct Run {
  Run(const DrainRequest& from, Clock& the_clock) : request(from), clock(the_clock) {}

  DrainRequest request;
  Clock& clock;
  std::unique_ptr<SharedFiles> shared;
  std::optional<Journal> journal;
  bool journal_failed = false;
  Ledger ledger;
  control::Touched touched;  // of the names that looks at the case tell of
  Uncarried uncarried;
  Witnesses witnesses;
  std::vector<Root> roots;
  std::vector<int> ranks;  // of this node, in order; -1 stands for the undecomposed case
  Figures figures;
  std::vector<std::string> messages, notices;
  std::optional<Code> trouble;
  std::uint64_t last_turn = 0;  // that something got (turns.h): a file when it was closed, a time when it goes
  Clock::time_point start = clock.now();
  Phase phase = Phase::running;
  std::atomic<bool> is_ending = false;  // not running any more, for jobs
  bool ended_cleanly = false;           // the program, with status 0

  // False: the times of another rank are its times, too.
  bool add_rank(int rank);
  bool serves(int rank) const;
  bool alone() const;  // no other node has ranks of this run
  Status record_staged(const std::vector<tree::Entry>& staged);
  void record(const std::vector<Record>& records);
  void learn(const Record& entry);  // not for the journal
  void record(const Record& entry) { record(std::vector<Record>{entry}); }
  void note(std::optional<Code> code, const std::string& message);
  void tell(const std::string& notice);  // that asks for nothing
  // By the name that it has now, for a command that is pasted.
  std::string case_now() const { return shared ? shared->case_path() : request.case_path; }
  bool is_new_time(int rank, const std::string& time) const;
  // The time is that of a rank of this node, too.
  bool is_own_new_time(const openfoam::TimePath& time) const {
    return serves(time.rank) && is_new_time(time.rank, time.time);
  }
  bool holds_times() const { return !request.settings.live || request.settings.hold_times; }
  // Looks find the times that go to the case, as a whole. Else they go when they are quiet (quiet_times.h).
  bool carries_times_whole() const { return holds_times() || request.settings.collated; }
  // Whether `at` is the link to the case that staging or evicting puts in the place of `path`.
  bool is_link_to_case(const std::string& path, const std::string& at) const;
  std::vector<std::string> times_here(int rank) const;  // directories of the rank's local tree
  // The directory of the case that holds this rank's times, and one time in it.
  std::string holder_of_times(int rank) const;
  std::string time_directory(int rank, const std::string& time) const;
  // The time of a rank that a path is of. The directories of groups are those of their first ranks.
  std::optional<openfoam::TimePath> time_path(std::string_view path) const;
  // The same. A file whose own name is a number is none.
  std::optional<openfoam::TimePath> time_of(const std::string& path, bool is_directory) const;
  double now() const;                             // seconds since it was made
  double seconds_at(const timespec& date) const;  // likewise; `date`: of a file
};

// Takes a read lease on an open file. The kernel gives none while anything has the file open for writing or mapped
// writable (`written`), and some file systems never do (`unknown`): there the close event has to do.
enum class Lease { taken, written, unknown };
Lease take_lease(const Descriptor& file);

}  // namespace forebay::drain
