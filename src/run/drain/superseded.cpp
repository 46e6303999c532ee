// Safe copies of times that the program has purged, once a newer time is safe.
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "run/drain/state.h"

namespace forebay::drain {

// Where a time lies on the case; empty unless the program removed it for every rank.
std::set<std::string> Drain::State::purged_from(const std::string& time) const {
  std::set<std::string> places;
  for (const int rank : times.ranks()) {
    const std::string directory = time_directory(rank, time);
    const auto known = ledger.find(directory);
    const auto collated = ledger.collated_of(rank, time);
    struct stat status {};
    const bool removed = (known && known->deleted) || (collated && ledger.deleted_unknown(directory));
    if (!removed || ::lstat(local_of(roots, directory).c_str(), &status) == 0) return {};
    places.insert(collated ? join(collated->group, time) : directory);
  }
  return places;
}

// Times that were made safe while the program purges them would pile up on the case until its end. Such a time is a
// copy that nothing needs any more when the program itself has removed it (journalled) and a newer time that has all
// its files is safe for all ranks; it is never the last one. Nothing else is removed before the end. With several nodes
// only their agreement tells what is safe for all ranks, and each removes its own part, unless another keeps the time.
void Drain::State::find_superseded() {
  const auto& newest = alone() ? newest_safe : newest_everywhere;
  if (!may_remove_superseded() || !newest) return;
  std::vector<core::WholeTime> until_newest = safe_whole_times;
  std::erase_if(until_newest, [&](const core::WholeTime& each) { return times.before(*newest, each.time); });
  const std::vector<std::string> points = core::restart_points(until_newest, required());
  std::erase_if(superseding, [&](const std::string& time) {
    const bool is_point =
        std::find(points.begin(), points.end(), time) != points.end() || kept_by_others.contains(time);
    if (is_point || !times.before(time, *newest) || purged_from(time).empty()) return false;
    to_leave.push_back(time);
    core::forget_time(safe_whole_times, time);
    return true;
  });
  choose_safe(required());
}

void Drain::State::remove_superseded() {
  if (!may_remove_superseded()) return;
  for (const std::string& time : std::exchange(leaving, std::exchange(to_leave, {}))) {
    if (kept_by_others.contains(time)) {
      superseding.insert(time);
      continue;
    }
    for (const std::string& path : purged_from(time)) submit_removal(path);
  }
}

bool Drain::State::may_remove_superseded() const {
  return phase == Phase::running && request.settings.hold_times && failures.empty() && !ledger.lost_events() &&
         trouble != Code::conflict && trouble != Code::lost;
}

// What cannot be removed now, because somebody changed it or the file system fails, is the matter of the end.
void Drain::State::submit_removal(const std::string& path) {
  if (in_flight.contains(path)) return;
  std::vector<std::pair<std::string, Known>> below;
  ledger.each(path, [&](const std::string& each, const Known& known) {
    below.emplace_back(each, known);
    return true;
  });
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::removal, path, 0, 0, {}, false, prepared};
  submit(std::move(job), [below, prepared, files = shared.get()]() -> Result<std::optional<layouts::Unit>> {
    for (auto at = below.rbegin(); at != below.rend(); ++at) {
      const auto& [each, known] = *at;
      const Status removed = known.directory ? files->remove_directory(each)
                                             : remove_published(*files, each, known.on_case.value_or(Identity{}));
      if (!removed && removed.error().errno_value != ENOENT) break;
      prepared->removed.push_back(each);
    }
    return std::nullopt;
  });
}

}  // namespace forebay::drain
