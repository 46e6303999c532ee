#include "run/drain/last_look.h"

#include <algorithm>
#include <utility>

#include "run/openfoam/openfoam.h"

namespace forebay::drain {

LastLook::LastLook(std::map<int, RankTimesFound> found, const core::Names& written, const core::Settings& settings)
    : found_(std::move(found)) {
  core::Times times;
  for (const auto& [rank, of] : found_) {
    times[rank] = core::times_of(of.look);
    has_threads_ = has_threads_ || core::has_threads(of.look);
  }
  states_ = core::States(std::move(times), written, settings);
  states_kept_ = core::states_kept(has_threads_, settings.nodes);
}

const core::StateId* LastLook::restartable_of(const std::string& time) const {
  const auto& good = states_.restartable;
  const auto state = std::ranges::find_if(good, [&](const core::StateId& each) { return each.time == time; });
  return state == good.end() ? nullptr : &*state;
}

bool LastLook::is_complete(const std::string& time) const {
  return !states_.times.empty() && std::ranges::all_of(states_.times, [&](const auto& each) {
    return std::ranges::any_of(each.second, [&](const core::Time& of) { return of.line.time == time && of.whole; });
  });
}

bool LastLook::is_complete_but_open(const std::string& time) const {
  return !found_.empty() && std::ranges::all_of(found_, [&](const auto& each) {
    const core::RankLook& look = each.second.look;
    const auto is_sound = [](const auto& file) { return !file.second.torn; };
    return std::ranges::any_of(look.lines, [&](const auto& of) {
      return of.after.id.time == time && core::is_left(look.before, of.after.id.sequence) && !of.after.cut &&
             std::ranges::all_of(of.files, is_sound);
    });
  });
}

std::vector<std::string> LastLook::complete_in_tree() const {
  std::vector<std::string> complete;
  if (states_.times.empty()) return complete;
  for (const core::Time& of : states_.times.begin()->second)
    if (is_complete(of.line.time) && stands_in_tree(of.line.time)) complete.push_back(of.line.time);
  return complete;
}

std::vector<std::string> LastLook::begun() const {
  std::map<std::string, std::uint64_t> begun;
  for (const auto& [rank, mine] : states_.times)
    for (const core::Time& of : mine) begun.try_emplace(of.line.time, of.line.sequence);
  std::vector<std::string> names;
  for (const auto& [time, at] : begun) names.push_back(time);
  std::ranges::sort(names, [&](const auto& a, const auto& b) {
    return begun.at(a) != begun.at(b) ? begun.at(a) < begun.at(b) : openfoam::time_less(a, b);
  });
  return names;
}

bool LastLook::stands_in_tree(const std::string& time) const {
  return std::ranges::none_of(states_.times, [&](const auto& each) {
    return std::ranges::any_of(each.second, [&](const core::Time& of) { return of.line.time == time && of.kept; });
  });
}

std::vector<core::StateId> LastLook::last_states() const {
  return core::last_states(states_, states_kept_);
}

std::vector<std::string> LastLook::last_times() const {
  std::vector<std::string> last;
  const auto add = [&](const std::string& time) {
    if (std::ranges::find(last, time) == last.end()) last.push_back(time);
  };
  const std::vector<core::StateId> states = last_states();
  for (auto state = states.rbegin(); state != states.rend(); ++state) {
    for (const auto& [rank, part] : states_.common.at(*state))
      if (part->mesh && *part->mesh != part->line) add(part->mesh->time);
    add(state->time);
  }
  return last;
}

TimeFiles LastLook::files_of(int rank, const std::string& time) const {
  const auto of_rank = found_.find(rank);
  if (of_rank == found_.end()) return {};
  const TimeFiles* newest = nullptr;
  for (const auto& [line, files] : of_rank->second.files)
    if (line.time == time) newest = &files;  // by sequence
  return newest == nullptr ? TimeFiles() : *newest;
}

std::map<int, std::set<core::LineId>> LastLook::purged_and_empty() const {
  std::map<int, std::set<core::LineId>> lines;
  for (const auto& [rank, of] : found_)
    for (const auto& each : of.look.lines)
      if (each.kept && each.files.empty()) lines[rank].insert(each.after.id);
  return lines;
}

}  // namespace forebay::drain
