// Figures for people: the parts of a run tell what happens to its files and times, and this file reckons amounts from
// that. Nothing that must be right reads them. Pure. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "run/drain/timeline.h"

namespace forebay::drain {

// A number of files, and the bytes of all of them.
struct Amount {
  std::uint64_t files = 0, bytes = 0;
  Amount& operator+=(const Amount& more) {
    files += more.files;
    bytes += more.bytes;
    return *this;
  }
  friend bool operator==(const Amount&, const Amount&) = default;
};

// Published on the case: files, how many times more a file that had changed since, and the bytes of all these times.
struct Carried {
  std::uint64_t files = 0, again = 0, bytes = 0;
};

// Amounts of a node, or of several.
struct Amounts {
  Amount written;                // by the program, each file once
  bool written_is_more = false;  // at least so much
  // Times of single ranks that the program removed before anybody looked into them. Their files are counted nowhere.
  std::uint64_t unseen_times = 0;
  Carried shared;
  Amount undrained;
  Amount never_shared;  // deleted, or replaced by rename, before they were drained
  // Files that the program wrote and read later, so that nobody had to fetch them from the case. Each file that is
  // still there at the end counts once. The times of access tell, so nothing is counted where the pool is mounted
  // noatime.
  Amount read_back;
  std::optional<double> lag_seconds;  // the longest time between complete and safe
  Amounts& operator+=(const Amounts& more);
};

class Figures {
 public:
  // The program closed a file for the first time, or one that was counted had so many bytes more.
  void closed(std::uint64_t bytes) { closed_ += {1, bytes}; }
  void grew(std::uint64_t bytes) { closed_.bytes += bytes; }
  // It removed files that it had written, or replaced them by a rename, ...
  void gone(const Amount& files) { gone_ += files; }
  void gone(std::uint64_t bytes) { gone_ += {1, bytes}; }
  void never_shared(std::uint64_t bytes) { told_.never_shared += {1, bytes}; }
  // ... or a file or directory of which nobody knows what was in it.
  void gone_unknown() { unknown_is_gone_ = true; }
  void unseen(std::uint64_t times) { told_.unseen_times += times; }
  // A directory was renamed: what lies in it is seen to be written again.
  void counts_twice() { counts_twice_ = true; }
  void carried_file(bool again) { ++(again ? told_.shared.again : told_.shared.files); }
  void carried_bytes(std::uint64_t bytes) { told_.shared.bytes += bytes; }
  // Not all can be looked at.
  void missed() { missed_ = true; }
  // At the end: what the program wrote that the local trees hold, and what of that was read.
  void found(const Amount& there) { there_ = there; }
  void found_read(const Amount& files) { told_.read_back = files; }

  // The times of this node's ranks, and those of ranks that a script starts.
  Timeline& times() { return times_; }
  Timeline& times_of_script() { return times_of_script_; }

  // While the program works, what was written is what was seen to be closed, and what was carried.
  Amounts amounts() const;

 private:
  Timeline times_ = {}, times_of_script_ = {};
  Amounts told_ = {};
  Amount closed_ = {}, gone_ = {};
  std::optional<Amount> there_ = {};
  bool unknown_is_gone_ = false, counts_twice_ = false, missed_ = false;
};

}  // namespace forebay::drain
