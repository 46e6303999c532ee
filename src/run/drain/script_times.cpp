#include "run/drain/script_times.h"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "run/drain/walk.h"
#include "run/openfoam/case_times.h"

namespace forebay::drain {
namespace {

// So many of the newest times are looked into.
constexpr std::size_t newest_times = 4;

}  // namespace

// nullopt: a rank has it not, or something of it is not on the case as it lies here.
std::optional<core::NamesOfRanks> TimesOfScript::names_at_home(const std::string& time) const {
  core::NamesOfRanks names;
  for (const int rank : ranks) {
    const std::string directory = run_.time_directory(rank, time);
    const auto here = openfoam::names_of_time(local_of(run_.roots, directory));
    if (!here || here->empty()) return std::nullopt;
    for (const std::string& name : *here) {
      const std::string path = join(directory, name);
      const auto known = run_.ledger.find(path);
      const auto status = status_of(local_of(run_.roots, path));
      if (!known || !status || known->deleted) return std::nullopt;
      const bool is_link = S_ISLNK(status->st_mode);
      if (is_link ? !known->evicted && known->link_target.empty() : !is_as_known(*known, mark_of(*status)))
        return std::nullopt;
      names[rank].insert(core::plain_name(name));
    }
  }
  return names;
}

std::optional<std::string> TimesOfScript::newest_safe(bool ended) {
  if (ranks.empty()) return std::nullopt;
  const std::uint64_t carried = run_.numbers.shared.files + run_.numbers.shared.again;
  if (carried != looked_at_ || ended) {
    looked_at_ = carried;
    const std::vector<TimelineEntry> begun = timeline.newest(newest_times + 1);
    for (const TimelineEntry& each : begun) {
      if (!ended && &each == &begun.back()) break;
      core::forget_time(at_home_, each.time);
      auto names = names_at_home(each.time);
      if (!names) continue;
      written_.add(each.time, *names);
      at_home_.push_back({each.time, std::move(*names)});
    }
    if (at_home_.size() > newest_times)
      at_home_.erase(at_home_.begin(), at_home_.end() - static_cast<std::ptrdiff_t>(newest_times));
  }
  const auto newest = core::newest_restartable(at_home_, core::Required::of(std::nullopt, written_));
  return newest ? std::optional(at_home_[*newest].time) : std::nullopt;
}

}  // namespace forebay::drain
