#include "drain/times.h"

#include <algorithm>

namespace forebay::drain {

void Times::add_rank(int rank) {
  const auto place = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
  if (place == ranks_.end() || *place != rank) ranks_.insert(place, rank);
}

Times::RankTime& Times::at(int rank, const std::string& time) {
  const auto [found, made] = times_.try_emplace(time);
  if (made) found->second.order = next_order_++;
  return found->second.ranks[rank];
}

bool Times::settle(int rank, RankTime& rank_time) {
  if (rank_time.whole || rank_time.spoiled || !rank_time.open.empty() || rank_time.closed.empty()) return false;
  const auto last = last_files_.find(rank);
  const bool as_last =
      last != last_files_.end() && !last->second.empty() &&
      std::includes(rank_time.closed.begin(), rank_time.closed.end(), last->second.begin(), last->second.end());
  if (!rank_time.followed && !as_last) return false;
  rank_time.whole = true;
  last_files_[rank] = rank_time.closed;
  return true;
}

bool Times::directory_made(int rank, const std::string& time) {
  at(rank, time);
  auto& current = current_[rank];
  if (current == time) return false;
  bool became = false;
  if (const auto earlier = times_.find(current); earlier != times_.end()) {
    RankTime& rank_time = earlier->second.ranks[rank];
    rank_time.followed = true;
    became = settle(rank, rank_time);
  }
  current = time;
  return became;
}

void Times::file_made(int rank, const std::string& time, const std::string& file) {
  RankTime& rank_time = at(rank, time);
  if (!rank_time.closed.contains(file)) rank_time.open.insert(file);
}

bool Times::file_closed(int rank, const std::string& time, const std::string& file) {
  RankTime& rank_time = at(rank, time);
  rank_time.open.erase(file);
  rank_time.closed.insert(file);
  return settle(rank, rank_time);
}

void Times::file_deleted(int rank, const std::string& time, const std::string& file) {
  const auto found = times_.find(time);
  if (found == times_.end()) return;
  RankTime& rank_time = found->second.ranks[rank];
  // Deleted before it was closed or before the time was whole: what remains can no longer be called complete.
  if (!rank_time.whole) rank_time.spoiled = rank_time.spoiled || rank_time.closed.contains(file);
  rank_time.open.erase(file);
}

void Times::spoil(int rank, const std::string& time) {
  RankTime& rank_time = at(rank, time);
  rank_time.spoiled = true;
  rank_time.whole = false;
}

void Times::spoil_open() {
  for (auto& [name, time] : times_)
    for (auto& [rank, rank_time] : time.ranks)
      if (!rank_time.whole) rank_time.spoiled = true;
}

bool Times::rank_ended(int rank, bool cleanly) {
  const auto found = times_.find(current_[rank]);
  if (!cleanly || found == times_.end()) return false;
  RankTime& rank_time = found->second.ranks[rank];
  rank_time.followed = true;
  return settle(rank, rank_time);
}

bool Times::whole(int rank, const std::string& time) const {
  const auto found = times_.find(time);
  if (found == times_.end()) return false;
  const auto of_rank = found->second.ranks.find(rank);
  return of_rank != found->second.ranks.end() && of_rank->second.whole;
}

bool Times::complete(const std::string& time) const {
  return !ranks_.empty() && std::all_of(ranks_.begin(), ranks_.end(), [&](int rank) { return whole(rank, time); });
}

std::vector<std::string> Times::all() const {
  std::vector<std::string> names;
  for (const auto& [name, time] : times_) names.push_back(name);
  std::sort(names.begin(), names.end(), [&](const auto& a, const auto& b) { return before(a, b); });
  return names;
}

std::optional<std::string> Times::newest_complete() const {
  std::optional<std::string> newest;
  for (const auto& [name, time] : times_)
    if (complete(name) && (!newest || before(*newest, name))) newest = name;
  return newest;
}

bool Times::before(const std::string& a, const std::string& b) const {
  const auto first = times_.find(a), second = times_.find(b);
  if (first == times_.end() || second == times_.end()) return first != times_.end();
  return first->second.order < second->second.order;
}

std::vector<std::string> Times::files(int rank, const std::string& time) const {
  const auto found = times_.find(time);
  if (found == times_.end()) return {};
  const auto of_rank = found->second.ranks.find(rank);
  if (of_rank == found->second.ranks.end()) return {};
  return {of_rank->second.closed.begin(), of_rank->second.closed.end()};
}

void Times::forget(const std::string& time) {
  times_.erase(time);
}

}  // namespace forebay::drain
