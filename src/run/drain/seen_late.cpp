// What was seen late, or not at all: times that are passed over, times that may have lost files before they were
// listed, files that may still be open, and what the redirection library handed over.
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "run/drain/state.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {

// What all ranks have begun, and left behind by two times, when it is first seen. All ranks have written the next one,
// too, so this one is not the newest complete time, for which alone files are kept aside. And where nothing of it is on
// the case before the end (or before submit_time() has it watched), it does not matter what happens in it meanwhile.
// Like any that was first seen late it is complete when it still is there after its ranks have begun another time
// (decide_suspects). Looking into, watching and keeping times is most of what a step costs here. Not so where times
// differ in their names: what is older may be the last that a run can restart from.
std::set<std::string> SeenLate::times_to_pass_over(const std::vector<Event>& events) {
  if (!run.holds_times() || !seen.alone() || (seen.hold && !seen.hold->let()) || !policy.times_are_alike) return {};
  const RankTimes superseded = superseded_by(events);
  std::set<std::string> met, passed, made_anew;
  for (const Event& event : events) {
    if (!event.directory || (event.kind != Event::Kind::created && !event.gone())) continue;
    const auto time = openfoam::time_path(event.path);
    if (!time || !time->rest.empty()) continue;
    const bool by_all = std::ranges::all_of(seen.times.ranks(), [&](int rank) {
      return superseded.contains({rank, time->time});
    });
    const bool first = met.insert(event.path).second;
    if (event.gone()) continue;
    if (!first) made_anew.insert(time->time);
    if (by_all && !seen.timeline.was_begun(time->time)) passed.insert(time->time);
  }
  std::erase_if(passed, [&](const std::string& time) { return made_anew.contains(time); });
  return passed;
}

// What ranks had begun before the newest time that all of them have left by these events.
RankTimes SeenLate::superseded_by(const std::vector<Event>& events) const {
  std::map<int, std::vector<std::string>> begun;
  for (const int rank : seen.times.ranks())
    if (!seen.times.current(rank).empty()) begun[rank].push_back(seen.times.current(rank));
  for (const Event& event : events) {
    if (!event.directory || event.kind != Event::Kind::created) continue;
    auto time = openfoam::time_path(event.path);
    if (time && time->rest.empty() && seen.serves(time->rank) && run.is_new_time(time->rank, time->time))
      begun[time->rank].push_back(std::move(time->time));
  }
  if (begun.size() < seen.times.ranks().size()) return {};
  std::map<std::string, std::set<int>> left;
  for (const auto& [rank, names] : begun)
    for (auto time = names.begin(); time + 1 != names.end(); ++time) left[*time].insert(rank);
  const std::vector<std::string>& any = begun.begin()->second;
  const auto newest = std::find_if(any.rbegin() + 1, any.rend(), [&](const std::string& time) {
    return left[time].size() == begun.size() && !(seen.hold && seen.hold->may_lack(time));
  });
  if (newest == any.rend()) return {};
  RankTimes superseded;
  for (const auto& [rank, names] : begun)
    for (auto time = names.begin(); time != names.end() && *time != *newest; ++time) superseded.emplace(rank, *time);
  return superseded;
}

// Where it must be known now what they hold. What is known to be whole submit_time() looks into.
void SeenLate::look_into_passed_over(bool all) {
  if (!seen.watcher) return;
  std::vector<Event> found;
  for (const auto& rank_time : unseen)
    if (passed_over.contains(rank_time) && (all || !seen.times.whole(rank_time.first, rank_time.second)))
      seen.watcher->descend(time_directory(rank_time.first, rank_time.second), Watcher::Follow::list, found);
  for (const Event& event : found)
    if (!event.directory) seen.handle(event);
  trust_like_others();
}

// A purge begins when the next time is written, so all of that was there when it was listed, later; unless it was being
// purged in its turn, but that the rank's current time never is. So beginning at that, a suspect that lacks no file of
// the next lacks none. But a file that comes late (functionObjectProperties) the next may not have yet: it is one that
// the last whole time has, if there was one.
void SeenLate::trust_like_others() {
  RankTimes sound;
  for (auto each = suspects.rbegin(); each != suspects.rend(); ++each)
    if ((seen.times.current(each->rank) == each->next || sound.contains({each->rank, each->next}) ||
         seen.times.whole(each->rank, each->next)) &&
        seen.times.has_files_of_others(each->rank, each->time, each->next))
      sound.emplace(each->rank, each->time);
  std::erase_if(suspects, [&](const Suspect& each) {
    if (!sound.contains({each.rank, each.time})) return false;
    seen.times.trust(each.rank, each.time);
    return true;
  });
}

// Where a program writes other files than before: a purge takes the whole time, and has ended when the rank begins
// another (or has ended by itself). What still is there then was not being purged when it was listed.
void SeenLate::decide_suspects(int rank) {
  std::erase_if(suspects, [&](const Suspect& each) {
    if (each.rank != rank || seen.batch.made.contains({rank, each.time})) return false;  // the purge may be under way
    // Of what was passed over the removal is told, since its parent is watched.
    const bool watched = !run.ledger.lost_events() && passed_over.contains({rank, each.time});
    if (!each.removed && (watched || name_exists(local_of(run.roots, time_directory(rank, each.time))))) {
      seen.times.trust(rank, each.time);
    } else {
      seen.times.spoil(rank, each.time);
    }
    return true;
  });
}

// What the rank made, closed and removed before its directory could be watched: no event tells of it, but the
// redirection library where it is loaded. It is looked for when the rank begins another time, since all that it did to
// the last one came before, and at the end. A time whose own beginning is not handled yet waits: its directory is
// watched already, and the events of its files would come after.
void SeenLate::adopt(int rank) {
  if (!seen.hold) return;
  auto handed = seen.keep.handed_over(rank, run.request.lower);
  if (!handed) {  // something of any time that is not whole yet may be there
    run.note(std::nullopt, "a time cannot be vouched for: " + handed.error().text());
    return seen.times.spoil_open();
  }
  std::map<std::string, core::Names> names;
  for (const Keep::HandedOver& each : *handed) names[each.time].insert(core::plain_name(each.file));
  std::set<std::string> needed;  // the run may still have to restart from them
  for (const auto& [time, files] : names)
    if (seen.hold->may_be_freed(time) && !seen.timeline.was_let_go(time) && !policy.is_superseded(rank, time, files))
      needed.insert(time);
  std::vector<Keep::HandedOver> taken;
  for (Keep::HandedOver& each : *handed) {
    if (seen.batch.beginning.contains(time_directory(rank, each.time))) continue;
    const bool hopeless = seen.timeline.was_begun(each.time) && seen.times.is_hopeless(rank, each.time);
    const bool let_go = hopeless || seen.hold->may_be_freed(each.time);
    if (!let_go && !Keep::fits(each)) seen.names_too_long = true;
    if (!hopeless && needed.contains(each.time)) continue;
    // They do where they remove times, but nothing where one of them does not tell what it leaves.
    if (let_go && seen.times_go && seen.hold->ranks_keep()) continue;
    if (let_go || !run.is_new_time(rank, each.time) || seen.keep.contains(rank, each.time, each.file) ||
        seen.timeline.was_let_go(each.time)) {
      seen.keep.discard(each);
    } else if (seen.keep.take(each)) {
      unseen.erase({rank, each.time});
      seen.times.file_made(rank, each.time, each.file);  // all of them first: a time is whole when none is open
      taken.push_back(std::move(each));
    } else if (Keep::fits(each)) {
      seen.times.file_deleted(rank, each.time, each.file);  // while it was open: no part of the time
    } else {
      seen.times.spoil(rank, each.time);
    }
  }
  for (const auto& [of_rank, time, file] : taken) {
    const std::string directory = time_directory(rank, time);
    if (seen.room.pool_is_full) seen.times.spoil(rank, time);
    seen.times.file_purged(rank, time, file);
    seen.file_is_closed(join(directory, file), rank, time, file);
    if (!name_exists(local_of(run.roots, join(directory, file))))
      run.numbers.gone.add(seen.keep.size(rank, time, file).value_or(0));
    if (!name_exists(local_of(run.roots, directory))) seen.purged_kept[time].insert(rank);
  }
}

void SeenLate::forget_files(int rank, const std::string& time) {
  const auto purged = seen.purged.find({rank, time});
  for (const std::string& file : seen.times.files(rank, time)) {
    if (!seen.times.is_closed(rank, time, file)) continue;
    if (purged != seen.purged.end() && purged->second.contains(file)) continue;
    if (const auto bytes = seen.keep.size_of_names(2, rank, time, file)) files_forgotten[{rank, time}].add(*bytes);
  }
}

// Made, filled and removed between two looks at the events. (What the redirection library handed over is adopted
// later.)
void SeenLate::count_if_unseen(int rank, const std::string& time, bool removed) {
  if (unseen.erase({rank, time}) == 0 || !removed) return;
  if (run.request.settings.handed_over && !passed_over.contains({rank, time})) {
    const auto handed = seen.keep.handed_over(rank, run.request.lower);
    if (handed && std::ranges::any_of(*handed, [&](const auto& each) { return each.time == time; })) return;
  }
  ++run.numbers.unseen_times;
}

// A rank that has begun a later time has closed the files of the last: streams live no longer than the writing of one
// time. Before that, or at the end, the kernel is asked for a lease, which is too dear for every file of every step. A
// program that keeps files open for longer is found out when the time is carried: then every file needs its lease.
void SeenLate::ask_unsure(Ask ask) {
  constexpr std::chrono::milliseconds quiet{250};  // most solvers have begun another step by then
  const auto now = run.clock.now();
  std::vector<std::pair<std::string, Unsure>> due;
  for (const auto& [path, entry] : unsure) {
    const bool current = seen.times.current(entry.rank) == entry.time;
    if (current && (ask == Ask::left || (ask == Ask::quiet && now - entry.found <= quiet))) continue;
    // Asked of the kept link: the program may have purged its own name since.
    if (!current || is_sealed(seen.keep.path(entry.rank, entry.time, entry.file))) due.emplace_back(path, entry);
  }
  for (const auto& [path, entry] : due) {
    unsure.erase(path);
    seen.file_is_closed(path, entry.rank, entry.time, entry.file);
  }
}

}  // namespace forebay::drain
