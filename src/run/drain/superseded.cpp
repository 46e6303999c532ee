// Safe copies of times that the program has purged, once a newer time is safe.
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "run/drain/state.h"

namespace forebay::drain {

// Where a time lies on the case; empty unless the program removed it for every rank.
std::set<std::string> Superseded::purged_from(const std::string& time) const {
  std::set<std::string> directories;
  for (const int rank : seen.times.ranks()) {
    const std::string directory = time_directory(rank, time);
    const auto known = run.ledger.find(directory);
    const auto collated = run.ledger.collated_of(rank, time);
    const bool removed = (known && known->deleted) || (collated && run.ledger.deleted_unknown(directory));
    if (!removed || name_exists(local_of(run.roots, directory))) return {};
    directories.insert(collated ? join(collated->group, time) : directory);
  }
  return directories;
}

// Times that were made safe while the program purges them would pile up on the case until its end. Such a time is a
// copy that nothing needs any more when the program itself has removed it (journalled) and a newer time that has all
// its files is safe for all ranks; it is never the last one. Nothing else is removed before the end. With several nodes
// only their agreement tells what is safe for all ranks, and each removes its own part, unless another keeps the time.
void Superseded::find() {
  const auto& newest = seen.alone() ? policy.newest_safe : policy.nodes.newest_everywhere;
  if (!may_remove() || !newest) return;
  std::vector<core::WholeTime> until_newest = policy.safe_whole_times;
  std::erase_if(until_newest, [&](const core::WholeTime& each) { return seen.times.before(*newest, each.time); });
  const std::vector<std::string> points = core::restart_points(until_newest, policy.required());
  std::erase_if(superseding, [&](const std::string& time) {
    const bool is_point = std::ranges::find(points, time) != points.end() || policy.nodes.kept_by_others.contains(time);
    if (is_point || !seen.times.before(time, *newest) || purged_from(time).empty()) return false;
    to_leave.push_back(time);
    core::forget_time(policy.safe_whole_times, time);
    return true;
  });
  policy.choose_safe(policy.required());
}

void Superseded::remove() {
  if (!may_remove()) return;
  for (const std::string& time : std::exchange(leaving, std::exchange(to_leave, {}))) {
    const std::set<std::string> directories = purged_from(time);
    if (policy.nodes.kept_by_others.contains(time) || is_linked_to(directories)) {
      superseding.insert(time);
      continue;
    }
    for (const std::string& path : directories) work.submit_removal(path);
  }
}

// A link of the case leads into one of them: it may be about to lead to a newer one.
bool Superseded::is_linked_to(const std::set<std::string>& directories) const {
  bool found = false;
  run.ledger.each("", [&](const std::string& path, const Known& known) {
    if (known.link_target.empty() || !known.on_case) return true;
    const auto target = target_in_case(path, known.link_target, run.request.case_path);
    found = target && std::ranges::any_of(directories, [&](const auto& each) { return is_below(*target, each); });
    return !found;
  });
  return found;
}

bool Superseded::may_remove() const {
  return end.phase == Phase::running && run.request.settings.hold_times && work.not_carried.failures.empty() &&
         !run.ledger.lost_events() && run.trouble != Code::conflict && run.trouble != Code::lost;
}

}  // namespace forebay::drain
