#include "run/core/restartable.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace forebay::core {
namespace {

Names difference(const Names& a, const Names& b) {
  Names only;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(only, only.end()));
  return only;
}

const Names& names_on(const NamesOfRanks& names, int rank) {
  static const Names none;
  const auto found = names.find(rank);
  return found == names.end() ? none : found->second;
}

std::size_t count(const NamesOfRanks& names) {
  std::size_t sum = 0;
  for (const auto& [rank, of_rank] : names) sum += of_rank.size();
  return sum;
}

// Times before `index` that have a mesh file which no later one up to `index` has.
std::set<std::size_t> meshes_of(const std::vector<WholeTime>& times, std::size_t index) {
  std::set<std::size_t> found;
  Names seen;
  for (std::size_t at = index + 1; at-- > 0;) {
    for (const std::string& name : spread_of(times[at].names).on_some_rank)
      if (is_of_mesh(name) && seen.insert(name).second && at != index) found.insert(at);
  }
  return found;
}

std::set<std::size_t> indices_of_restart_points(const std::vector<WholeTime>& times, const Required& required) {
  const auto newest = newest_restartable(times, required);
  if (!newest) return {};
  std::set<std::size_t> points = meshes_of(times, *newest);
  points.insert(*newest);
  std::vector<std::size_t> restartable{*newest};
  for (std::size_t at = *newest; at-- > 0 && points.size() < most_restart_points;) {
    if (!is_restartable(times[at].names, required)) continue;
    const bool superseded = std::ranges::any_of(
        restartable, [&](std::size_t newer) { return lacks(times[newer].names, times[at].names).nothing(); });
    if (!superseded) points.insert(at);
    restartable.push_back(at);
  }
  return points;
}

}  // namespace

std::string plain_name(std::string_view name) {
  constexpr std::string_view compressed = ".gz";
  if (name.ends_with(compressed)) name.remove_suffix(compressed.size());
  return std::string(name);
}

Spread spread_of(const NamesOfRanks& names) {
  Spread spread;
  bool first = true;
  for (const auto& [rank, of_rank] : names) {
    spread.on_every_rank = std::exchange(first, false) ? of_rank : intersection(spread.on_every_rank, of_rank);
    spread.on_some_rank.insert(of_rank.begin(), of_rank.end());
  }
  return spread;
}

void Written::add(const std::string& time, const NamesOfRanks& names) {
  constexpr std::size_t compared = 2;
  Spread spread = spread_of(names);
  has_state_times_ = has_state_times_ || spread.on_some_rank.contains("uniform/time");
  has_properties_ = has_properties_ || spread.on_some_rank.contains("uniform/functionObjects/functionObjectProperties");
  on_some_rank_.insert(spread.on_some_rank.begin(), spread.on_some_rank.end());
  std::erase_if(richest_, [&](const Time& each) { return each.time == time; });
  const auto poorer = std::ranges::find_if(
      richest_, [&](const Time& each) { return each.names.on_some_rank.size() <= spread.on_some_rank.size(); });
  richest_.insert(poorer, {time, std::move(spread)});
  if (richest_.size() > compared) richest_.pop_back();
}

Required Required::of(const std::optional<Spread>& start, const Written& written) {
  Required required;
  Names of_all;
  if (start) {
    required.on_some_rank = intersection(start->on_some_rank, written.on_some_rank_);
    if (required.on_some_rank.empty() || !written.has_state()) required.on_some_rank = start->on_some_rank;
    of_all = start->on_every_rank;
  } else if (!written.richest_.empty()) {
    const Spread &a = written.richest_.front().names, &b = written.richest_.back().names;
    required.on_some_rank = intersection(a.on_some_rank, b.on_some_rank);
    of_all = a.on_every_rank;
    of_all.insert(b.on_every_rank.begin(), b.on_every_rank.end());
  }
  required.on_every_rank = without_clouds(intersection(of_all, required.on_some_rank));
  return required;
}

Required Required::all_of(const Spread& time) {
  Required required;
  required.on_every_rank = without_clouds(time.on_some_rank);
  required.on_some_rank = time.on_some_rank;
  return required;
}

Lacks lacks(const NamesOfRanks& names, const Required& required) {
  Lacks found;
  for (const auto& [rank, of_rank] : names)
    if (Names missing = difference(required.on_every_rank, of_rank); !missing.empty())
      found.on_rank[rank] = std::move(missing);
  found.on_all_ranks =
      difference(difference(required.on_some_rank, required.on_every_rank), spread_of(names).on_some_rank);
  return found;
}

bool is_restartable(const NamesOfRanks& names, const Required& required) {
  return required.is_known() && !names.empty() && lacks(names, required).nothing();
}

Lacks lacks(const NamesOfRanks& newer, const NamesOfRanks& older) {
  Lacks found;
  const Names somewhere = spread_of(newer).on_some_rank;
  for (const auto& [rank, of_rank] : older) {
    Names missing = difference(of_rank, names_on(newer, rank));
    std::erase_if(missing, [&](const std::string& name) { return is_of_cloud(name) && somewhere.contains(name); });
    if (!missing.empty()) found.on_rank[rank] = std::move(missing);
  }
  return found;
}

void forget_time(std::vector<WholeTime>& times, const std::string& time) {
  std::erase_if(times, [&](const WholeTime& each) { return each.time == time; });
}

std::optional<std::size_t> newest_restartable(const std::vector<WholeTime>& times, const Required& required) {
  for (std::size_t at = times.size(); at-- > 0;)
    if (is_restartable(times[at].names, required)) return at;
  return std::nullopt;
}

std::vector<std::string> restart_points(const std::vector<WholeTime>& times, const Required& required) {
  std::vector<std::string> found;
  for (const std::size_t at : indices_of_restart_points(times, required)) found.push_back(times[at].time);
  return found;
}

std::vector<std::string> superfluous(const std::vector<WholeTime>& times, const Required& required) {
  const auto newest = newest_restartable(times, required);
  const std::set<std::size_t> points = indices_of_restart_points(times, required);
  std::set<std::size_t> go;
  std::vector<std::size_t> rest;
  for (std::size_t at = 0; at < times.size(); ++at) {
    if (points.contains(at)) continue;
    if (newest && at < *newest) {
      go.insert(at);
    } else if (at + 1 < times.size()) {  // the last one may still get a file
      rest.push_back(at);
    }
  }
  std::ranges::stable_sort(rest,
                           [&](std::size_t a, std::size_t b) { return count(times[a].names) < count(times[b].names); });
  const std::size_t room = most_restart_points - std::min(points.size(), most_restart_points);
  for (std::size_t i = 0; i + room < rest.size(); ++i) go.insert(rest[i]);
  std::vector<std::string> found;
  for (const std::size_t at : go) found.push_back(times[at].time);
  return found;
}

}  // namespace forebay::core
