// Files outside new times. Private to the room.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "run/drain/growing.h"
#include "run/drain/jobs.h"
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
    Clock::time_point since;  // its last change
    FileId file;              // as it was then; where that is known
  };
  std::map<std::string, Waits> pending = {};  // closed files
  // Of files with one name that wait, as they were counted: when their closing was told.
  std::map<FileId, std::uint64_t> counted = {};
  bool overlooked = false;                  // more files were closed than `pending` holds: they are found by looking
  std::optional<OutputWalk> catch_up = {};  // looks for them
  std::map<std::string, std::string> placed_names = {};  // placed file -> its path in the case, as last told

  GrowingFiles growing{run, seen, work};

  void handle(const Event& event);
  void handle_placed(const Event& event);
  void count(const std::string& path, const FileId& file, std::uint64_t bytes);
  void replaced(const std::string& path, const FileId& by);
  void never_shared(const std::string& path, const FileId& file);
  void wait_for_quiet(const std::string& path, std::optional<FileId> file = std::nullopt);
  void find_overlooked();
};

}  // namespace forebay::drain
