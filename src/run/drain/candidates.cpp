#include "run/drain/candidates.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/base.h"

namespace forebay::drain {
namespace {

int level_of(const std::string& time) {
  return std::min(std::countr_zero(checksum(time)), Candidates::highest_level);
}

}  // namespace

void Candidates::add(const std::string& time) {
  if (contains(time)) return;
  entries_.push_back({time, level_of(time)});
  std::array<std::size_t, highest_level + 1> newer{};  // by level: how many of at least that level are newer
  std::vector<Entry> held;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    bool wanted = false;
    for (int level = 0; level <= entry->level; ++level) {
      auto& count = newer[static_cast<std::size_t>(level)];
      wanted = wanted || count < per_level;
      ++count;
    }
    if (wanted) held.push_back(std::move(*entry));
  }
  std::ranges::reverse(held);
  entries_ = std::move(held);
}

void Candidates::remove(const std::string& time) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.time == time; });
}

bool Candidates::contains(const std::string& time) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.time == time; });
}

std::vector<std::string> Candidates::times() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.time);
  return names;
}

}  // namespace forebay::drain
