// What becomes of times that are complete: they are chosen from, carried, or let go.
#include <algorithm>
#include <utility>

#include "run/drain/state.h"

namespace forebay::drain {

void Policy::new_complete_times() {
  // Events that wait tell for nothing that the rank has gone on.
  if (!seen.late.unsure.empty() && !(seen.watcher && seen.watcher->has_taken_in()))
    seen.late.ask_unsure(SeenLate::Ask::quiet);
  std::vector<std::string> complete = seen.times.take_newly_complete();
  std::erase_if(complete, [&](const std::string& time) {
    if (!seen.hold || !seen.hold->may_lack(time)) return false;
    for (const int rank : seen.times.ranks()) seen.times.spoil(rank, time);
    return true;
  });
  const auto is_kept = [&](const std::string& time) {
    return std::ranges::all_of(seen.times.ranks(), [&](int rank) { return !seen.keep.files(rank, time).empty(); });
  };
  std::vector<Record> records;
  for (const std::string& time : complete) records.push_back(complete_record(time));
  run.record(records);
  const std::set<std::string> late = std::exchange(seen.late_files_of, {});
  for (const std::string& time : late) renew_names(time);
  for (const std::string& time : complete) {
    // Not what was passed over: only what is kept aside may stand for the last.
    if (is_kept(time)) note_whole(time);
    seen.timeline.complete(time, run.now());
    // What the program purged already, it may purge altogether; until then it is safe only from what is kept.
    if (run.request.settings.live && !run.request.settings.hold_times && !seen.times.purged(time))
      work.wait_to_be_carried(time);
  }
  if (!complete.empty() || !late.empty()) choose_restart_points();
  if (complete.empty()) return;
  // The journal's last is the newest.
  if (newest_complete && run.ledger.newest_complete() != newest_complete) run.record(complete_record(*newest_complete));
  work.submit_waiting();
  release_kept();
  for (const std::string& time : complete)
    if (!is_kept(time) && newest_complete && seen.times.before(time, *newest_complete)) let_go(time);
}

// Kept times that are no restart points any more are let go, and those that never became complete. With several nodes
// only what they will not agree on: the candidates, the pinned and the agreed time stay.
void Policy::release_kept() {
  if (whole_times.empty()) return;
  const std::string newest_whole = whole_times.back().time;
  const std::vector<std::string> superfluous = core::superfluous(whole_times, required());
  const auto wanted = [&](const std::string& time) {
    return !seen.alone() && !safe_times.contains(time) &&
           (nodes.candidates.contains(time) || time == nodes.pinned || time == nodes.agreed ||
            nodes.kept_by_others.contains(time));
  };
  // Where the program purges nothing it will be known for whole when the rank goes on; so it will where nothing can be
  // compared with the next time, which was passed over.
  const auto is_suspect = [&](const std::string& time) {
    return std::ranges::any_of(seen.late.suspects, [&](const Suspect& each) {
      return each.time == time &&
             (!run.request.settings.hold_times || seen.late.passed_over.contains({each.rank, each.next}));
    });
  };
  for (const std::string& time : seen.keep.times()) {
    if (seen.keep.in_use(time) || wanted(time) || is_suspect(time)) continue;
    const bool whole = core::find_time(whole_times, time) != nullptr;
    const bool may_go =
        whole ? std::ranges::find(superfluous, time) != superfluous.end() : seen.times.before(time, newest_whole);
    if (may_go) let_go(time);
  }
  seen.times.forget_spoiled_before(newest_whole);
}

void Policy::let_go(const std::string& time) {
  seen.purged_kept.erase(time);
  core::forget_time(whole_times, time);
  seen.timeline.let_go(time);
  std::erase_if(seen.late.suspects, [&](const Suspect& each) { return each.time == time; });
  // What was passed over may still be carried, and then its order counts.
  const auto& ranks = seen.times.ranks();
  const bool passed = std::ranges::any_of(ranks, [&](int rank) {
    return seen.late.passed_over.contains({rank, time});
  });
  if (run.request.settings.hold_times && !safe_times.contains(time) && !passed) {
    for (const int rank : ranks)
      if (seen.hold && name_exists(local_of(run.roots, time_directory(rank, time)))) seen.late.forget_files(rank, time);
    seen.times.forget(time);
  } else {
    seen.times.compact(time);
  }
  std::erase_if(seen.purged, [&](const auto& each) { return each.first.second == time; });
  if (auto dropped = seen.keep.drop(time); !dropped) run.note(std::nullopt, dropped.error().text());
}

}  // namespace forebay::drain
