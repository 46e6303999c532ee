#include "run/openfoam/case_times.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "run/openfoam/cut_file.h"
#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

constexpr int deepest = 8;  // directories in each other that a time may have

// Where links of the case may lead: no look follows them further. Empty: none is followed.
struct Bounds {
  std::string case_path, holder;  // real paths: of the case, and of what holds the times

  bool contain(const std::string& path) const {
    if (case_path.empty()) return false;
    const auto target = real_path(path);
    return target && (is_below(*target, case_path) || is_below(*target, holder));
  }
};

Status add_names(const std::string& directory, const std::string& path, const Bounds& bounds, int deep,
                 std::set<std::string>& names) {
  const auto entries = list_directory(directory);
  if (!entries) return entries.error().errno_value == ENOENT ? Status() : forward(entries);
  for (const DirectoryEntry& entry : *entries) {
    const std::string name = join(path, entry.name), full = join(directory, entry.name);
    if (leads_to_directory(full, entry) && (entry.type == DT_DIR || bounds.contain(full))) {
      if (deep == 0) continue;
      if (auto added = add_names(full, name, bounds, deep - 1, names); !added) return added;
    } else {
      names.insert(name);
    }
  }
  return {};
}

// The times that lie in `directory`, by name.
Result<std::vector<std::string>> times_in(const std::string& directory) {
  const auto entries = list_directory(directory);
  if (!entries) return forward(entries);
  std::vector<std::string> times;
  for (const DirectoryEntry& entry : *entries)
    if (is_time_name(entry.name) && leads_to_directory(join(directory, entry.name), entry)) times.push_back(entry.name);
  return times;
}

using Holder = CaseTimes::Holder;

// Ranks' own directories come last, since what they hold stands before what their group holds.
Result<std::vector<Holder>> holders_of(const std::string& case_path) {
  const auto entries = list_directory(case_path);
  if (!entries) return forward(entries);
  std::vector<Holder> own, all;
  for (const DirectoryEntry& entry : *entries) {
    const auto rank = processor_of(entry.name);
    const auto group = group_of(entry.name);
    if ((!rank && !group) || !leads_to_directory(join(case_path, entry.name), entry)) continue;
    if (rank) own.push_back({entry.name, *rank, *rank});
    if (group) all.push_back({entry.name, group->first, group->last, true});
  }
  if (own.empty() && all.empty()) return std::vector<Holder>{{"", -1, -1}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace

std::optional<std::string> start_time(const std::string& start_from, const std::string& start_time_value,
                                      const std::vector<std::string>& times) {
  if (times.empty()) return std::nullopt;
  if (start_from == "firstTime") return *std::ranges::min_element(times, time_less);
  if (start_from == "startTime") {
    const auto found =
        std::ranges::find_if(times, [&](const std::string& time) { return same_time(time, start_time_value); });
    if (found != times.end()) return *found;
    return std::nullopt;
  }
  return *std::ranges::max_element(times, time_less);  // OpenFOAM's default: latestTime
}

Result<std::set<std::string>> names_of_time(const std::string& directory) {
  std::set<std::string> names;
  if (auto added = add_names(directory, "", {}, deepest, names); !added) return forward(added);
  return names;
}

std::optional<std::string> start_time(const std::string& case_path, bool decomposed) {
  const auto facts = inspect(case_path);
  const auto holders = holders_of(case_path);
  if (!facts || !holders) return std::nullopt;
  std::set<std::string> times;
  for (const Holder& holder : *holders) {
    if (decomposed && holder.first > 0) continue;  // OpenFOAM looks where its first rank is
    const auto found = times_in(decomposed ? join(case_path, holder.name) : case_path);
    if (found) times.insert(found->begin(), found->end());
  }
  return start_time(facts->start_from, facts->start_time, {times.begin(), times.end()});
}

Result<CaseTimes> times_of_case(const std::string& case_path) {
  const auto facts = inspect(case_path);
  if (!facts) return forward(facts);
  auto holders = holders_of(case_path);
  if (!holders) return forward(holders);
  CaseTimes found;
  found.holders = std::move(*holders);
  std::set<int> ranks;
  for (const Holder& holder : found.holders)
    for (int rank = holder.first; rank <= holder.last; ++rank) ranks.insert(rank);
  found.ranks.assign(ranks.begin(), ranks.end());
  for (const Holder& holder : found.holders) {
    const std::string directory = join(case_path, holder.name);
    const auto times = times_in(directory);
    if (!times) return forward(times);
    const Bounds bounds{real_path(case_path).value_or(case_path), real_path(directory).value_or(directory)};
    for (const std::string& time : *times) {
      std::set<std::string> names;
      if (auto added = add_names(join(directory, time), "", bounds, deepest, names); !added) return forward(added);
      RankNames& of_time = found.times[time];
      for (const int rank : ranks) of_time.try_emplace(rank);
      for (int rank = holder.first; rank <= holder.last; ++rank) of_time[rank] = names;
    }
  }
  std::vector<std::string> times;
  for (const auto& [time, names] : found.times) times.push_back(time);
  const bool by_time = facts->start_from == "startTime";
  if (by_time) found.start = start_time(facts->start_from, facts->start_time, times);
  if (!found.start) found.start = start_time("firstTime", "", times);
  return found;
}

std::vector<std::string> directories_of_time(const std::string& case_path, const CaseTimes& times,
                                             const std::string& time) {
  std::vector<std::string> found;
  for (const Holder& holder : times.holders)
    if (std::string directory = join(holder.name, time); leads_to_directory(join(case_path, directory)))
      found.push_back(std::move(directory));
  return found;
}

std::map<int, Endings> endings_of(const std::string& case_path, const CaseTimes& times, const std::string& time,
                                  const std::function<bool(const std::string& name)>& wanted) {
  std::map<int, Endings> found;
  const auto names = times.times.find(time);
  if (names == times.times.end()) return found;
  std::set<int> done;
  for (auto holder = times.holders.rbegin(); holder != times.holders.rend(); ++holder) {
    const std::string directory = join(join(case_path, holder->name), time);
    if (!leads_to_directory(directory)) continue;
    std::set<int> of_holder;
    for (int rank = holder->first; rank <= holder->last; ++rank)
      if (done.insert(rank).second) of_holder.insert(rank);
    if (of_holder.empty()) continue;
    const auto of_rank = names->second.find(*of_holder.begin());
    if (of_rank == names->second.end()) continue;
    const int blocks = holder->group ? holder->last - holder->first + 1 : 0;
    for (const std::string& name : of_rank->second) {
      if (!wanted(name)) continue;
      const Ending ending = ending_of(join(directory, name), blocks);
      for (const int rank : of_holder) found[rank].emplace(name, ending);
    }
  }
  return found;
}

}  // namespace forebay::openfoam
