#include "run/drain/times.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "run/openfoam/openfoam.h"

namespace forebay::drain {

void Times::add_rank(int rank) {
  const auto at = std::ranges::lower_bound(ranks_, rank);
  if (at == ranks_.end() || *at != rank) ranks_.insert(at, rank);
}

Times::RankTime& Times::at(int rank, const std::string& time) {
  const auto [found, made] = times_.try_emplace(time);
  if (made) found->second.order = next_order_++;
  return found->second.ranks[rank];
}

const Times::RankTime* Times::find(int rank, const std::string& time) const {
  const auto found = times_.find(time);
  if (found == times_.end()) return nullptr;
  const auto of_rank = found->second.ranks.find(rank);
  return of_rank == found->second.ranks.end() ? nullptr : &of_rank->second;
}

void Times::note_if_whole(int rank, const std::string& time, RankTime& rank_time) {
  if (rank_time.whole || rank_time.spoiled || rank_time.suspect) return;
  if (!rank_time.open.empty() || (rank_time.closed.empty() && !rank_time.passed_over)) return;
  if (!rank_time.followed && !(rank_time.vouched && has_files_of_last(rank, rank_time))) return;
  rank_time.whole = true;
  if (!rank_time.passed_over) last_files_[rank] = rank_time.closed;
  candidates_.push_back(time);
}

bool Times::has_files_of_last(int rank, const RankTime& rank_time) const {
  const auto last = last_files_.find(rank);
  return last != last_files_.end() && !last->second.empty() && std::ranges::includes(rank_time.closed, last->second);
}

void Times::directory_made(int rank, const std::string& time) {
  at(rank, time);
  auto& current = current_[rank];
  if (current == time) return;
  if (const auto earlier = times_.find(current); earlier != times_.end() && !earlier->second.compact) {
    RankTime& rank_time = earlier->second.ranks[rank];
    rank_time.followed = true;
    note_if_whole(rank, current, rank_time);
  }
  current = time;
}

void Times::file_made(int rank, const std::string& time, const std::string& file) {
  RankTime& rank_time = at(rank, time);
  rank_time.vouched = false;
  if (!rank_time.closed.contains(file)) rank_time.open.insert(file);
}

void Times::file_closed(int rank, const std::string& time, const std::string& file) {
  RankTime& rank_time = at(rank, time);
  rank_time.vouched = false;
  rank_time.open.erase(file);
  rank_time.closed.insert(file);
  note_if_whole(rank, time, rank_time);
}

void Times::file_deleted(int rank, const std::string& time, const std::string& file) {
  const auto found = times_.find(time);
  if (found == times_.end() || found->second.compact) return;
  RankTime& rank_time = found->second.ranks[rank];
  // Deleted before it was closed or before the time was whole: what remains can no longer be called complete.
  if (!rank_time.whole && rank_time.closed.contains(file)) {
    rank_time.spoiled = true;
    spoiled_.insert(time);
  }
  rank_time.open.erase(file);
}

void Times::file_purged(int rank, const std::string& time, const std::string& file) {
  const auto found = times_.find(time);
  if (found == times_.end() || found->second.compact) return;
  RankTime& rank_time = found->second.ranks[rank];
  if (!rank_time.whole) rank_time.purged.insert(file);
}

bool Times::purged_file_made(int rank, const std::string& time, const std::string& file) {
  const auto found = times_.find(time);
  if (found == times_.end() || found->second.compact) return false;
  RankTime& rank_time = found->second.ranks[rank];
  return rank_time.purged.erase(file) != 0 && rank_time.closed.erase(file) != 0;
}

bool Times::purged(const std::string& time) const {
  const auto found = times_.find(time);
  return found != times_.end() &&
         std::ranges::any_of(found->second.ranks, [](const auto& rank) { return !rank.second.purged.empty(); });
}

void Times::pass_over(int rank, const std::string& time) {
  at(rank, time).passed_over = true;
}

void Times::suspect(int rank, const std::string& time) {
  at(rank, time).suspect = true;
}

void Times::trust(int rank, const std::string& time) {
  const auto found = times_.find(time);
  if (found == times_.end() || found->second.compact) return;
  RankTime& rank_time = found->second.ranks[rank];
  rank_time.suspect = false;
  note_if_whole(rank, time, rank_time);
}

bool Times::has_files_of_others(int rank, const std::string& time, const std::string& next) const {
  const RankTime *its = find(rank, time), *others = find(rank, next);
  if (its == nullptr || others == nullptr || its->closed.empty()) return false;
  for (const std::set<std::string>* files : {&others->open, &others->closed})
    if (!std::ranges::includes(its->closed, *files)) return false;
  const auto last = last_files_.find(rank);
  return last == last_files_.end() || has_files_of_last(rank, *its);
}

void Times::spoil(int rank, const std::string& time) {
  RankTime& rank_time = at(rank, time);
  rank_time.spoiled = true;
  rank_time.whole = false;
  times_[time].compact = false;
  spoiled_.insert(time);
}

void Times::spoil_open() {
  for (auto& [name, time] : times_) {
    if (time.compact) continue;
    for (auto& [rank, rank_time] : time.ranks) {
      if (rank_time.whole) continue;
      rank_time.spoiled = true;
      spoiled_.insert(name);
    }
  }
}

void Times::rank_ended(int rank, bool cleanly) {
  const auto found = times_.find(current_[rank]);
  if (!cleanly || found == times_.end() || found->second.compact) return;
  RankTime& rank_time = found->second.ranks[rank];
  rank_time.followed = true;
  note_if_whole(rank, found->first, rank_time);
}

std::vector<std::string> Times::files(int rank, const std::string& time) const {
  std::vector<std::string> all;
  if (const RankTime* rank_time = find(rank, time))
    std::set_union(rank_time->open.begin(), rank_time->open.end(), rank_time->closed.begin(), rank_time->closed.end(),
                   std::back_inserter(all));
  return all;
}

bool Times::is_closed(int rank, const std::string& time, const std::string& file) const {
  const RankTime* rank_time = find(rank, time);
  return rank_time != nullptr && rank_time->closed.contains(file);
}

bool Times::is_open(int rank, const std::string& time, const std::string& file) const {
  const RankTime* rank_time = find(rank, time);
  return rank_time != nullptr && rank_time->open.contains(file);
}

const Times::RankTime* Times::current_files(int rank) const {
  const auto name = current_.find(rank);
  if (name == current_.end()) return nullptr;
  const auto time = times_.find(name->second);
  if (time == times_.end() || time->second.compact) return nullptr;
  const auto found = time->second.ranks.find(rank);
  return found == time->second.ranks.end() ? nullptr : &found->second;
}

bool Times::needs_voucher(int rank) const {
  const RankTime* rank_time = current_files(rank);
  return rank_time != nullptr && !rank_time->whole && !rank_time->spoiled && rank_time->open.empty() &&
         !rank_time->vouched && has_files_of_last(rank, *rank_time);
}

void Times::vouch(int rank) {
  if (!needs_voucher(rank)) return;
  const std::string& name = current_[rank];
  RankTime& rank_time = times_[name].ranks[rank];
  rank_time.vouched = true;
  note_if_whole(rank, name, rank_time);
}

const std::string& Times::current(int rank) const {
  static const std::string none;
  const auto current = current_.find(rank);
  return current == current_.end() ? none : current->second;
}

std::string Times::begun_by_all() const {
  if (ranks_.empty()) return {};
  const auto slowest =
      std::ranges::min_element(ranks_, [&](int a, int b) { return order(current(a)) < order(current(b)); });
  const bool all = std::ranges::none_of(ranks_, [&](int rank) { return current(rank).empty(); });
  return all ? current(*slowest) : std::string();
}

bool Times::has_all_files(const std::string& time) const {
  return std::ranges::all_of(ranks_, [&](int rank) {
    const RankTime* rank_time = find(rank, time);
    const auto last = last_files_.find(rank);
    if (rank_time == nullptr || rank_time->spoiled || rank_time->suspect || last == last_files_.end()) return false;
    return std::ranges::all_of(last->second, [&](const std::string& file) {
      return rank_time->open.contains(file) || rank_time->closed.contains(file);
    });
  });
}

bool Times::whole(int rank, const std::string& time) const {
  const auto found = times_.find(time);
  if (found == times_.end()) return false;
  if (found->second.compact) return true;
  const auto of_rank = found->second.ranks.find(rank);
  return of_rank != found->second.ranks.end() && of_rank->second.whole;
}

bool Times::is_hopeless(int rank, const std::string& time) const {
  const auto found = times_.find(time);
  if (found == times_.end()) return true;
  const auto of_rank = found->second.ranks.find(rank);
  return of_rank != found->second.ranks.end() && (of_rank->second.passed_over || of_rank->second.spoiled);
}

bool Times::complete(const std::string& time) const {
  return !ranks_.empty() && std::ranges::all_of(ranks_, [&](int rank) { return whole(rank, time); });
}

std::vector<std::string> Times::all() const {
  std::vector<std::string> names;
  for (const auto& [name, time] : times_) names.push_back(name);
  std::ranges::sort(names, [&](const auto& a, const auto& b) { return before(a, b); });
  return names;
}

std::vector<std::string> Times::take_newly_complete() {
  std::vector<std::string> found;
  for (const std::string& time : std::exchange(candidates_, {})) {
    const auto at = times_.find(time);
    if (at == times_.end() || at->second.taken || !complete(time)) continue;
    at->second.taken = true;
    found.push_back(time);
  }
  return found;
}

bool Times::before(const std::string& a, const std::string& b) const {
  const auto first = times_.find(a), second = times_.find(b);
  if (first == times_.end() || second == times_.end()) return openfoam::time_less(a, b);
  return first->second.order < second->second.order;
}

std::size_t Times::order(const std::string& time) const {
  const auto found = times_.find(time);
  return found == times_.end() ? 0 : found->second.order;
}

void Times::compact(const std::string& time) {
  const auto found = times_.find(time);
  if (found == times_.end() || found->second.compact || !complete(time)) return;
  found->second.compact = true;
  found->second.ranks.clear();
}

void Times::forget(const std::string& time) {
  times_.erase(time);
  spoiled_.erase(time);
}

void Times::forget_spoiled_before(const std::string& time) {
  std::erase_if(spoiled_, [&](const std::string& each) {
    if (!before(each, time)) return false;
    const auto found = times_.find(each);
    if (found != times_.end() && found->second.taken) {
      found->second.ranks.clear();
    } else {
      times_.erase(each);
    }
    return true;
  });
}

}  // namespace forebay::drain
