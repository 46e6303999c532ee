// Jobs: units on their way to the case, and what the mover's threads tell of them. Private to the room.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/drain.h"
#include "run/layouts/layouts.h"

namespace forebay::drain {

// A local file, whatever its names.
using FileId = std::pair<dev_t, ino_t>;

// XXH3-64 of the last bytes before `until` of a file, 64 KiB at most.
struct Tail {
  std::uint64_t until = 0, checksum = 0;
};

// The sources of a unit, and what its job found. A mover thread fills them in Mover::Make, and the agent's thread reads
// them when the outcome is there. The queue of outcomes orders the two threads.
struct Prepared {
  std::map<std::string, LocalMark> marks;     // by path on the case
  std::map<std::string, std::string> links;   // path on the case -> target
  std::map<std::string, mode_t> directories;  // made or found on the case, with the mode that was asked for
  std::optional<Owner> owner = {};            // directory: whom the program gave it to
  bool postponed = false;                     // still open for writing: try again later
  std::vector<std::string> removed;           // from the case
  Sources sources;                            // group_time
  bool not_collatable = false;                // group_time: the layout cannot hold it
  bool differs = false;            // comparison: what lies here is not what was carried; checkpoint: not what was kept
  std::optional<Tail> tail = {};   // of what the case has then of a growing file
  bool continues = false;          // the unit is appended to what the case has
  bool no_growth = false;          // growth: it is no text, or was written to elsewhere
  std::set<FileId> several_names;  // files with names elsewhere: whether the case has one must be known first
};

struct Job {
  enum class Kind { file, directory, rank_time, group_time, checkpoint, removal, comparison, growth, quiet_time };
  Kind kind = Kind::file;
  std::string key;         // what is in flight: a path on the case
  int rank = 0, last = 0;  // rank_time: rank; group_time: first and last
  std::string time;  // checkpoint: the version that was kept; empty: as the program left it; comparison: a group's
  bool from_held = false;
  std::shared_ptr<Prepared> prepared;
  std::uint64_t closings = 0;  // Doubts::closings when it was submitted
  bool at_end = false;         // then the program had ended
  bool holds_refresh = false;  // growth: the next refresh waits until it was tried
  Place place = {};            // when it gets its name
  std::uint64_t version_bytes = 0;
};

// Outcomes cross from the mover's threads to the agent's thread here.
class Outcomes {
 public:
  Outcomes();
  void push(Outcome outcome);
  std::vector<Outcome> take();
  int descriptor() const { return signal_.get(); }

 private:
  std::mutex mutex_;
  std::vector<Outcome> outcomes_;
  Descriptor signal_;
};

// The local files that jobs are carrying now, by the jobs' keys. A mover's thread adds a file before it asks how many
// names the file has: so a second name that it missed is found by the job of that name. Thread-safe.
class FilesOnTheirWay {
 public:
  void add(const std::string& key, const FileId& file);
  void remove(const std::string& key);
  bool contains(const FileId& file) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::set<FileId>> files_;
};

// The temporary names that are on the case now. Thread-safe.
class Temporaries {
 public:
  void note(const std::string& path, bool made);
  std::set<std::string> names() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::string> names_;
};

}  // namespace forebay::drain
