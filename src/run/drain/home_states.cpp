#include "run/drain/home_states.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "run/drain/order.h"
#include "run/drain/walk.h"

namespace forebay::drain {

HomeStates::Home HomeStates::home_of(const core::Parts& parts) {
  Home now;
  for (const auto& [rank, part] : parts) {
    now.time = part->line.time;
    now.names[rank] = part->names;
    now.lines[rank] = part->line;
  }
  return now;
}

void HomeStates::note(const core::StateId& state, Home of) {
  // Another node may be dead, and this one does not know what that brought home: all of these stay.
  if (!run_.alone()) run_.record(complete_record(of.time));
  run_.figures.times().safe(of.time, run_.now());
  begun_again_.erase(of.time);
  home_.insert_or_assign(state, std::move(of));
}

void HomeStates::forget_begun_again(const core::Times& times) {
  std::erase_if(home_, [&](const auto& each) {
    const bool again = is_begun_again(each.second, times);
    if (again) begun_again_.insert(each.second.time);
    return again;
  });
}

bool HomeStates::is_begun_again(const Home& of, const core::Times& times) const {
  return std::ranges::any_of(of.lines, [&](const auto& each) {
    const auto mine = times.find(each.first);
    return mine != times.end() && std::ranges::any_of(mine->second, [&](const core::Time& time) {
             return time.line.time == of.time && time.line.sequence > each.second.sequence;
           });
  });
}

bool HomeStates::has(const std::string& time) const {
  return std::ranges::any_of(home_, [&](const auto& each) { return each.second.time == time; });
}

std::optional<core::StateId> HomeStates::newest() const {
  return home_.empty() ? std::nullopt : std::optional(home_.rbegin()->first);
}

std::vector<std::string> HomeStates::times() const {
  std::vector<std::string> times;
  for (const auto& [state, of] : home_) times.push_back(of.time);
  return times;
}

bool HomeStates::has_parts(const core::Parts& parts, const std::map<int, RankTimesFound>& found) const {
  return std::ranges::all_of(parts, [&](const auto& each) {
    const auto& [rank, part] = each;
    const std::string directory = run_.time_directory(rank, part->line.time);
    const TimeFiles& files = found.at(rank).files.at(part->line);
    if (const auto group = run_.ledger.collated_of(rank, part->line.time))
      return std::ranges::none_of(  // what is newer than the group is of a time that was begun again
          files, [&](const auto& file) { return file.second.mark.mtime_ns > group->sources.newest_ns; });
    return are_home(run_.ledger, directory, files) && std::ranges::none_of(files, [&](const auto& file) {
             return run_.ledger.find(join(directory, file.first))->deleted;
           });
  });
}

bool HomeStates::was_purged(const Home& of) const {
  return !of.lines.empty() && std::ranges::all_of(of.lines, [&](const auto& each) {
    const std::string directory = run_.time_directory(each.first, of.time);
    const auto known = run_.ledger.find(directory);
    const bool removed = (known && known->deleted) || run_.ledger.deleted_unknown(directory);
    return removed && !name_exists(local_of(run_.roots, directory));
  });
}

// States that were carried while the program purges them would pile up on the case until its end.
void HomeStates::give_up_superseded(const core::StateId& safe) {
  const auto of_safe = home_.find(safe);
  if (of_safe == home_.end()) return;
  const core::NamesOfRanks& names = of_safe->second.names;
  for (auto each = home_.begin(); each != of_safe;) {
    Home& of = each->second;
    const bool stays = !was_purged(of) || !core::lacks(names, of.names).nothing();
    if (!stays) to_leave_.push_back(std::move(of));
    each = stays ? std::next(each) : home_.erase(each);
  }
}

std::vector<std::string> HomeStates::take_superseded() {
  std::vector<std::string> all;
  for (Home& of : std::exchange(leaving_, std::exchange(to_leave_, {}))) {
    if (!was_purged(of)) continue;  // it was begun again
    std::set<std::string> directories;
    for (const int rank : run_.ranks) {
      const auto collated = run_.ledger.collated_of(rank, of.time);
      directories.insert(collated ? join(collated->group, of.time) : run_.time_directory(rank, of.time));
    }
    if (is_linked_to(directories))
      to_leave_.push_back(std::move(of));
    else
      all.insert(all.end(), directories.begin(), directories.end());
  }
  return all;
}

// A link of the case leads into one of them: it may be about to lead to a newer one.
bool HomeStates::is_linked_to(const std::set<std::string>& directories) const {
  bool found_one = false;
  run_.ledger.each("", [&](const std::string& path, const Known& known) {
    if (known.link_target.empty() || !known.on_case) return true;
    const auto target = target_in_case(path, known.link_target, run_.request.case_path);
    found_one = target && std::ranges::any_of(directories, [&](const auto& each) { return is_below(*target, each); });
    return !found_one;
  });
  return found_one;
}

}  // namespace forebay::drain
