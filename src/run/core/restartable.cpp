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
  has_state_times_ = has_state_times_ || spread.on_some_rank.contains(state_file);
  has_properties_ = has_properties_ || spread.on_some_rank.contains(properties_file);
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

}  // namespace forebay::core
