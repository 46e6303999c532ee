#include "run/drain/script_times.h"

#include <sys/stat.h>

#include <utility>

#include "run/drain/walk.h"
#include "run/openfoam/case_times.h"

namespace forebay::drain {
namespace {

// So many of the newest times are looked into.
constexpr std::size_t newest_times = 4;

}  // namespace

void TimesOfScript::begun(int rank, const std::string& time) {
  ranks_.insert(rank);
  if (!times_.insert(time).second) return;
  newest_.push_back(time);
  if (newest_.size() > newest_times + 1) newest_.erase(newest_.begin());
}

// nullopt: a rank has it not, or something of it is not on the case as it lies here.
std::optional<core::NamesOfRanks> TimesOfScript::names_at_home(const std::string& time) const {
  core::NamesOfRanks names;
  for (const int rank : ranks_) {
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
  if (ranks_.empty()) return std::nullopt;
  if (std::exchange(is_new_, false) || ended) {
    for (const std::string& time : newest_) {
      if (!ended && time == newest_.back()) break;
      core::forget_time(at_home_, time);
      auto names = names_at_home(time);
      if (!names) continue;
      written_.add(time, *names);
      at_home_.push_back({time, std::move(*names)});
    }
    if (at_home_.size() > newest_times)
      at_home_.erase(at_home_.begin(), at_home_.end() - static_cast<std::ptrdiff_t>(newest_times));
  }
  const auto newest = core::newest_restartable(at_home_, core::Required::of(std::nullopt, written_));
  return newest ? std::optional(at_home_[*newest].time) : std::nullopt;
}

}  // namespace forebay::drain
