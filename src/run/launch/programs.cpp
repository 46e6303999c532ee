#include "run/launch/programs.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forebay::launch {
namespace {

constexpr double shortest_pause = 0.05, longest_pause = 1;  // seconds
// When a process was started is told to a hundredth of a second, and when a time was begun by the clock of files.
constexpr double accuracy = 0.05;

}  // namespace

const ProgramAtWork* writer_of(const std::vector<ProgramAtWork>& programs, std::size_t ranks) {
  const auto only = [&](const auto& fits) -> const ProgramAtWork* {
    const auto found = std::ranges::find_if(programs, fits);
    if (found == programs.end() || std::find_if(found + 1, programs.end(), fits) != programs.end()) return nullptr;
    return &*found;
  };
  const std::size_t processes = std::max<std::size_t>(ranks, 1);
  if (const auto* as_many = only([&](const auto& each) { return each.processes.size() == processes; })) return as_many;
  if (const auto* one = only([&](const auto& each) { return each.processes.size() == processes && !each.filters; }))
    return one;
  return ranks == 0 ? only([](const auto&) { return true; }) : nullptr;
}

void TimeWriters::meet(std::size_t ranks, double now) {
  Kind& kind = ranks > 0 ? in_ranks_ : in_case_;
  // Ranks come one after the other.
  const bool all_here = kind.at_work && (ranks == 0 || kind.at_work->processes.size() == ranks);
  if (now < kind.next_look || (all_here && is_alive_(*kind.at_work))) return;
  kind.at_work.reset();
  const std::vector<ProgramAtWork> found = look_();
  if (const ProgramAtWork* writer = writer_of(found, ranks)) {
    kind.at_work = *writer;
    const double began = now - writer->age;
    const bool same = kind.last && kind.last->name == writer->name && std::abs(kind.last->began - began) < accuracy;
    if (same) {
      kind.last->processes = writer->processes.size();
    } else {
      kind.before = std::exchange(kind.last, Writer{writer->name, writer->processes.size(), began});
    }
    kind.pause = 0;
  } else {
    kind.pause = std::clamp(2 * kind.pause, shortest_pause, longest_pause);
  }
  kind.next_look = now + kind.pause;
}

std::optional<TimeWriters::Writer> TimeWriters::of(std::size_t ranks, double when, double now) {
  meet(ranks, now);
  const Kind& kind = ranks > 0 ? in_ranks_ : in_case_;
  for (const auto& each : {kind.last, kind.before})
    if (each && when >= each->began - accuracy) return each;
  return std::nullopt;
}

}  // namespace forebay::launch
