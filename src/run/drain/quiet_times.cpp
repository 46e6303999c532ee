#include "run/drain/quiet_times.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "run/drain/state.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {
namespace {

// A file may still be open where a rank has left a time: it is not tried at every tick.
constexpr int settles_when_told = 20;
constexpr std::chrono::seconds longest_wait_for_nodes{30};

struct Group {
  std::uint64_t turn = UINT64_MAX;
  Clock::time_point since = {};
  std::set<std::string> directories = {};
};

// The first processor's directory comes last: tools look for times there.
std::vector<std::string> last_processor_first(const std::set<std::string>& directories) {
  std::vector<std::string> sorted(directories.begin(), directories.end());
  std::ranges::sort(sorted, [](const std::string& a, const std::string& b) {
    if (name_of(a) != name_of(b)) return openfoam::time_less(std::string(name_of(a)), std::string(name_of(b)));
    return std::pair(parent_of(a).size(), parent_of(a)) > std::pair(parent_of(b).size(), parent_of(b));
  });
  return sorted;
}

}  // namespace

std::optional<std::string> QuietTimes::directory_of(const std::string& path, bool is_directory) const {
  std::string directory;
  if (const auto time = run_.time_of(path, is_directory)) {
    const bool serves = run_.serves(time->rank);
    if (!serves && !run_.request.settings.written_groups.empty()) return std::nullopt;  // another node's
    if (serves ? run_.carries_times_whole() : time->rank < 0) return std::nullopt;
    directory = run_.time_directory(time->rank, time->time);
  } else {
    const std::size_t slash = path.find('/');
    if (slash == std::string::npos || !openfoam::group_of(path.substr(0, slash))) return std::nullopt;
    const std::size_t end = path.find('/', slash + 1);
    if (end == std::string::npos && !is_directory) return std::nullopt;
    directory = path.substr(0, end);
    if (!openfoam::is_time_name(std::string(name_of(directory)))) return std::nullopt;
  }
  if (in_pieces_.contains(directory) || run_.ledger.find(directory)) return std::nullopt;
  return directory;
}

void QuietTimes::on_case_elsewhere(const std::string& time) {
  if (!on_case_elsewhere_ || openfoam::time_less(*on_case_elsewhere_, time)) on_case_elsewhere_ = time;
}

// But not much later for that, since what the case lacks is lost with the node.
bool QuietTimes::waits_for_nodes(const std::string& time, Clock::time_point since) const {
  if (!run_.serves(0) || run_.alone()) return false;
  if (on_case_elsewhere_ && !openfoam::time_less(*on_case_elsewhere_, time)) return false;
  const auto longest = std::min<Clock::duration>(longest_wait_for_nodes, run_.request.settings.safe_interval / 4);
  return run_.clock.now() - since < longest;
}

// In the order in which they were begun. The last one may be about to get more files.
void QuietTimes::submit_quiet(Clock::duration settle) {
  std::map<std::string, Group> groups;
  const auto& pending = work_.waiting.pending();
  for (const auto& [path, waits] : pending) {
    const auto directory = directory_of(path, false);
    if (!directory) continue;
    Group& group = groups[std::string(name_of(*directory))];
    group.turn = std::min(group.turn, waits.turn);
    group.since = std::max(group.since, waits.since);
    group.directories.insert(*directory);
  }
  std::vector<const Group*> order;
  for (const auto& [time, group] : groups) order.push_back(&group);
  std::ranges::sort(order, {}, [](const Group* group) { return group->turn; });
  for (const Group* group : order) {
    const auto quiet = run_.clock.now() - group->since;
    const bool told = quiet >= settle / settles_when_told && have_left(group->directories);
    const bool is_left = told || quiet >= WaitingFiles::most_settles * settle ||
                         (quiet >= settle && has_later(*group->directories.begin()));
    const std::string time(name_of(*group->directories.begin()));
    if (std::ranges::any_of(group->directories, [&](const std::string& each) { return is_cut(each); })) continue;
    if (!is_left || work_.jobs.size() >= Work::most_jobs || waits_for_nodes(time, group->since)) return;
    for (const std::string& directory : last_processor_first(group->directories)) {
      if (work_.in_flight.contains(directory)) continue;
      work_.waiting.forget_below(directory);
      work_.submit_quiet_time(directory);
    }
  }
}

// It goes when the program has ended, like any file that is cut.
bool QuietTimes::is_cut(const std::string& directory) const {
  const auto time = run_.time_path(directory);
  return time && run_.serves(time->rank) && work_.looks.is_cut(time->rank, time->time);
}

bool QuietTimes::have_left(const std::set<std::string>& directories) const {
  return std::ranges::all_of(directories, [&](const std::string& directory) {
    const auto time = run_.time_path(directory);
    return time && run_.serves(time->rank) && work_.looks.has_left(time->rank, time->time);
  });
}

bool QuietTimes::has_later(const std::string& directory) const {
  const auto entries = list_directory(local_of(run_.roots, std::string(parent_of(directory))));
  const std::string time(name_of(directory));
  return entries && std::ranges::any_of(*entries, [&](const DirectoryEntry& entry) {
           return openfoam::is_time_name(entry.name) && openfoam::time_less(time, entry.name);
         });
}

void QuietTimes::submit(const std::set<std::string>& directories) {
  for (const std::string& directory : last_processor_first(directories))
    if (!work_.in_flight.contains(directory)) work_.submit_quiet_time(directory);
}

void QuietTimes::try_again(const Job& job, bool was_changed) {
  const std::string local = local_of(run_.roots, job.key);
  if (!name_exists(local)) return;
  if (!job.prepared->postponed && !was_changed) in_pieces_.insert(job.key);
  if (!run_.witnesses.watcher) return;  // the next pass finds it
  std::error_code none;
  for (std::filesystem::recursive_directory_iterator at(local, none), end; !none && at != end; at.increment(none))
    if (!at->is_directory(none) || at->is_symlink(none))
      work_.waiting.wait_for_quiet(join(job.key, at->path().string().substr(local.size() + 1)));
}

}  // namespace forebay::drain
