// Waiting files: what the program has closed, until it is quiet and goes to the case in its turn. New times that looks
// bring whole (Run::carries_times_whole) do not wait here. Private to the room.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/growing.h"
#include "run/drain/jobs.h"
#include "run/drain/quiet_times.h"
#include "run/drain/run.h"
#include "run/drain/walk.h"
#include "run/drain/watch.h"

namespace forebay::drain {

class WaitingFiles {
 public:
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

  WaitingFiles(Run& run, Work& work) : run_(run), work_(work) {}

  void handle(const Event& event);
  void handle_placed(const Event& event);
  // More files were closed than may wait: those are found by looking.
  void find_overlooked();
  // Ends the walk under way: what it had still to find counts as overlooked.
  void end_catch_up();
  // `turn`: it has one already.
  void wait_for_quiet(const std::string& path, std::optional<FileId> file = std::nullopt, std::uint64_t turn = 0);
  void submit_quiet(Clock::duration settle);

  // Closed files, by path.
  const std::map<std::string, Waits>& pending() const { return pending_; }
  bool is_pending(const std::string& path) const { return pending_.contains(path); }
  // Some wait, or are still to be found.
  bool has_more() const { return !pending_.empty() || overlooked_ || catch_up_; }
  void forget(const std::string& path);
  // Files below this directory go with it.
  void forget_below(const std::string& directory);
  // At the end nothing waits any more, and nobody looks for what was overlooked. The turns tell the order.
  std::map<std::string, std::uint64_t> end();
  // Names that the program removed after they had been shown to it.
  std::set<std::string> take_removed_controls() { return std::exchange(removed_controls_, {}); }
  // The path in the case of a placed file; nullopt: none is known yet.
  std::optional<std::string> name_of_placed(const std::string& file) const;

  // Nothing that was closed before waits, or is on its way, under a name that the case lacks.
  bool is_next(const std::string& path);
  // A listing tells of files in any order: from the `first` event on they come in that of their last changes.
  void order_found(std::vector<Event>& events, std::size_t first) const;
  void is_on_case(const std::string& path);
  bool is_turn_of(const std::string& path, std::uint64_t turn) const;

  GrowingFiles& growing() { return growing_; }
  QuietTimes& times() { return times_; }

 private:
  static constexpr std::size_t most_pending = 16'384;
  static constexpr std::uint64_t most_held = std::uint64_t{64} << 20;  // bytes of versions on their way

  bool is_as_staged(const Event& event, const struct stat& status, const std::string& target) const;
  void count(const std::string& path, const FileId& file, std::uint64_t bytes);
  void replaced(const std::string& path, const FileId& by);
  bool never_shared(const std::string& path, const FileId& file);
  bool changes(const std::string& path);
  bool may_name_others(const std::string& path) const;
  bool waits_for_target(const std::string& path) const;
  void drop(std::map<std::string, Waits>::iterator waits);

  Run& run_;
  Work& work_;
  std::map<std::string, Waits> pending_ = {};
  // The bytes of waiting files with one name, as they were counted when their closing was told.
  std::map<FileId, std::uint64_t> counted_ = {};
  bool overlooked_ = false;
  std::optional<OutputWalk> catch_up_ = {};               // looks for what was overlooked
  std::map<std::string, std::string> placed_names_ = {};  // placed file -> its path in the case, as last told
  std::set<std::string> removed_controls_ = {};
  GrowingFiles growing_{run_, work_};
  QuietTimes times_{run_, work_};
};

}  // namespace forebay::drain
