// Work: what waits for the case, what is under way to it, and what became of that. Private to the room.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/acts.h"
#include "run/drain/checkpoints.h"
#include "run/drain/doubts.h"
#include "run/drain/drained.h"
#include "run/drain/evict.h"
#include "run/drain/groups.h"
#include "run/drain/held_states.h"
#include "run/drain/jobs.h"
#include "run/drain/links.h"
#include "run/drain/look.h"
#include "run/drain/run.h"
#include "run/drain/unreadable.h"
#include "run/drain/version.h"
#include "run/drain/waiting_files.h"

namespace forebay::drain {

// The most names that a message lists; it counts the others.
inline constexpr std::size_t names_told = 10;

// Outputs that the case lacks so far, and why.
struct NotCarried {
  std::map<std::string, std::string> failures = {};  // key of a job -> last error
  std::set<std::string> given_up = {};               // conflicts, by path or time directory
  std::set<std::string> still_open = {};             // keys of what waits for a file to be closed, at the end
};

// Whether there is any, at the end.
struct Progress {
  std::size_t submitted_in_pass = 0;
  Clock::time_point last_submitted = {}, last_made = {};
  std::uint64_t mark = 0;  // what the mover had done then
};

struct Work {
  Run& run;
  Look& looks;
  HeldStates& held;

  static constexpr std::size_t most_jobs = 2048;
  Outcomes outcomes = {};
  Temporaries temporaries = {};
  std::map<std::uint64_t, Job> jobs = {};  // by ticket
  std::set<std::string> in_flight = {};    // keys of jobs
  // Times that the case has for all ranks now. RestartPoints does not know yet.
  std::vector<std::string> times_home = {};
  Drained drained = {};
  NotCarried not_carried = {};
  Progress progress{.last_made = run.start};
  Acts acts{run, *this};
  WaitingFiles waiting{run, *this};
  Links links{run, *this};
  Checkpoints checkpoints{run, *this};
  Unreadable unreadable{run, *this};
  Doubts doubts{run, *this};
  Groups groups{run, *this};
  Eviction eviction{run, *this};
  // Last, so that its threads end before anything that they use.
  std::unique_ptr<Mover> mover = {};

  // submit.cpp
  void submit(Job job, Mover::Make make);
  std::optional<std::string> source_of(const std::string& path) const;
  bool waits_for_file(const std::string& directory) const;
  std::vector<std::pair<std::string, mode_t>> missing_parents(const std::string& path) const;
  // `turn`: 0 for the next one. `version`: no other one.
  void submit_file(const std::string& path, bool must_be_sealed, std::shared_ptr<const Partners> partners = nullptr,
                   std::uint64_t turn = 0, std::shared_ptr<const Version> version = nullptr);
  void submit_held_files(int rank, const std::string& time);
  void submit_file_from(const std::string& source, const std::string& path, bool must_be_sealed,
                        std::shared_ptr<const Partners> partners, std::uint64_t turn,
                        std::shared_ptr<const Version> version);
  void submit_directory(const std::string& path);
  void submit_rank_time(int rank, const std::string& time, bool from_held,
                        std::shared_ptr<const Partners> partners = nullptr, std::uint64_t turn = 0);
  void submit_group_time(int first, int last, const std::string& time, bool from_held);
  void submit_time(const std::string& time, bool from_held);
  void submit_quiet_time(const std::string& directory);
  void submit_waiting();
  void submit_removal(const std::string& path);

  // outcomes.cpp
  void take(const Outcome& outcome);
  bool comes_again(const Job& job) const;
  // They are on the case, whatever became of what they were made for.
  void note_made_directories(const Job& job);
  void carried(const Job& job, const Published& published);
  void file_carried(const Job& job, const PublishedFile& file);
  void note_sources_of_group(const Job& job);
  void time_carried(const std::string& time);
};

}  // namespace forebay::drain
