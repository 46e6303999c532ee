// Files outside new times. Private to the room.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/drain/growing.h"
#include "run/drain/jobs.h"
#include "run/drain/other_times.h"
#include "run/drain/run.h"
#include "run/drain/walk.h"
#include "run/drain/watch.h"

namespace forebay::drain {

struct OtherFiles {
  Run& run;
  Observation& seen;
  Work& work;

  static constexpr std::size_t most_pending = 16'384;
  struct Waits {
    Clock::time_point since = {};  // its last change
    Clock::time_point first = {};  // its first one since it was carried
    FileId file = {};              // as it was then; where that is known
    // The turn of its last change. Where the file names no others, this is the turn of its first change while the case
    // has nothing of this name.
    std::uint64_t turn = 0;
    bool is_absent = false;  // the case has nothing of this name
  };
  // A file that is written again and again is carried as it is after so many times the time that it must be quiet:
  // what was closed after it waits for it.
  static constexpr int most_settles = 5;
  static constexpr std::uint64_t most_held = std::uint64_t{64} << 20;  // bytes of versions on their way
  std::map<std::string, Waits> pending = {};                           // closed files
  // The bytes of waiting files with one name, as they were counted when their closing was told.
  std::map<FileId, std::uint64_t> counted = {};
  bool overlooked = false;                  // more files were closed than `pending` holds: they are found by looking
  std::optional<OutputWalk> catch_up = {};  // looks for them
  std::map<std::string, std::string> placed_names = {};  // placed file -> its path in the case, as last told
  std::set<std::string> removed_controls = {};           // by the program, which was shown them while it worked

  GrowingFiles growing{run, seen, work};
  OtherTimes times{run, seen, work};

  void handle(const Event& event);
  void handle_placed(const Event& event);
  bool is_as_staged(const Event& event, const struct stat& status, const std::string& target) const;
  void count(const std::string& path, const FileId& file, std::uint64_t bytes);
  void replaced(const std::string& path, const FileId& by);
  void never_shared(const std::string& path, const FileId& file);
  // `turn`: it has one already.
  void wait_for_quiet(const std::string& path, std::optional<FileId> file = std::nullopt, std::uint64_t turn = 0);
  void find_overlooked();

  // order.cpp
  void submit_quiet(Clock::duration settle);
  // Nothing that was closed before waits, or is on its way, under a name that the case lacks.
  bool is_next(const std::string& path);
  // A listing tells of files in any order: from the `first` event on they come in that of their last changes.
  void order_found(std::vector<Event>& events, std::size_t first) const;
  bool changes(const std::string& path);
  bool may_name_others(const std::string& path) const;
  bool waits_for_target(const std::string& path) const;
  void drop(std::map<std::string, Waits>::iterator waits);
  void is_on_case(const std::string& path);
  bool is_turn_of(const std::string& path, std::uint64_t turn) const;
};

}  // namespace forebay::drain
