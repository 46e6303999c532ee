// Times that are carried when they are quiet. These are the times of the run's ranks, unless looks bring them whole
// (Run::carries_times_whole), those of ranks that a script starts (./Allrun), and those in OpenFOAM's own collated
// directories (processors4). Each is carried as a whole. Lines tell when a rank has left its time. Where there are
// none, a time goes when it is quiet and a later one was begun, or when it has been quiet for longer. Private to the
// room.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/drain/jobs.h"
#include "run/drain/run.h"
#include "run/drain/script_times.h"

namespace forebay::drain {

class QuietTimes {
 public:
  QuietTimes(Run& run, Work& work) : run_(run), work_(work) {}

  // The directory of such a time that the case does not have and that `path` lies in, or is. A file or a link may have
  // a name like that, too.
  std::optional<std::string> directory_of(const std::string& path, bool is_directory) const;
  // Submits times that are quiet. The agent calls it now and then while the program runs.
  void submit_quiet(Clock::duration settle);
  // At the end, those of these directories that are not under way.
  void submit(const std::set<std::string>& directories);
  // They tell which times of ranks that a script starts are safe.
  TimesOfScript& of_script() { return of_script_; }
  // All other nodes have told that the case has this time for their ranks.
  void on_case_elsewhere(const std::string& time);
  // Nothing of it was carried: it is still open or was changed, or it cannot be carried as a whole.
  void try_again(const Job& job, bool was_changed);

 private:
  // Readers look for times in the directory of the first rank. So its node brings a time when the other nodes have.
  bool waits_for_nodes(const std::string& time, Clock::time_point since) const;
  bool is_cut(const std::string& directory) const;
  bool have_left(const std::set<std::string>& directories) const;
  bool has_later(const std::string& directory) const;

  Run& run_;
  Work& work_;
  TimesOfScript of_script_{run_};
  std::optional<std::string> on_case_elsewhere_ = {};  // the newest time
  std::set<std::string> in_pieces_ = {};               // directories whose files are carried one by one
};

}  // namespace forebay::drain
