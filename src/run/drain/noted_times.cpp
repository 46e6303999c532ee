#include "run/drain/noted_times.h"

#include <algorithm>

namespace forebay::drain {
namespace {

// The bytes of all ranks are added up for so many of the newest lines.
constexpr std::size_t steps_measured = 64;

// The date as the calls of the kernel have it.
timespec date_of(core::Ticks ticks) {
  return {ticks / 1'000'000'000, ticks % 1'000'000'000};
}

}  // namespace

void NotedTimes::note(const std::map<int, RankTimesFound>& found, const core::Times& times,
                      const std::map<core::StateId, core::Parts>& common, const Drained& drained) {
  for (const auto& [rank, mine] : times) {
    const RankTimesFound& of = found.at(rank);
    for (const core::Time& time : mine) {
      if (time.line.sequence > begun_[rank]) note_begun(time, of);
      if (time.left && time.line.sequence > of.left_before) note_files(time.line, of.files.at(time.line));
      if (run_.carries_times_whole() && !time.kept && !drained.contains(rank, time.line.time))
        note_names(rank, time.line, of);
    }
    if (!mine.empty()) begun_[rank] = std::max(begun_[rank], mine.back().line.sequence);
    run_.figures.unseen(of.unseen);
  }
  for (const auto& [state, parts] : common) run_.figures.times().complete(state.time, left_at(parts, found));
  run_.uncarried.flush();
}

void NotedTimes::note_begun(const core::Time& time, const RankTimesFound& of) {
  std::int64_t first = INT64_MAX;
  for (const auto& [name, file] : of.files.at(time.line)) first = std::min(first, file.mark.mtime_ns);
  const auto* line = of.look.find(time.line);
  if (line != nullptr && line->after.begun_at != 0) first = line->after.begun_at;
  run_.figures.times().begun(time.line.time, run_.seconds_at(date_of(first)));
}

// A resume tells of these names where they are gone.
void NotedTimes::note_names(int rank, const core::LineId& line, const RankTimesFound& of) {
  const TimeFiles& files = of.files.at(line);
  const auto* facts = of.look.find(line);
  const auto is_closed = [&](const auto& each) {
    if (facts == nullptr) return false;
    const auto file = facts->files.find(core::plain_name(each.first));
    return file != facts->files.end() && !file->second.open;
  };
  const auto closed = static_cast<std::size_t>(std::ranges::count_if(files, is_closed));
  std::size_t& noted = names_[{rank, line}];
  if (noted == files.size() + closed) return;
  noted = files.size() + closed;
  for (const auto& each : files) {
    const std::string path = join(run_.time_directory(rank, line.time), each.first);
    run_.uncarried.written(path);
    if (is_closed(each)) run_.uncarried.closed(path, each.second.mark.size, run_.now());
  }
  std::erase_if(names_, [&](const auto& each) { return each.first.second.sequence + steps_measured < line.sequence; });
}

// When the last rank left it, as far as lines tell: then it began its next time.
double NotedTimes::left_at(const core::Parts& parts, const std::map<int, RankTimesFound>& found) const {
  double last = 0;
  for (const auto& [rank, part] : parts) {
    const auto& lines = found.at(rank).look.lines;
    const auto next = std::ranges::upper_bound(lines, part->line.sequence, {},
                                               [](const auto& each) { return each.after.id.sequence; });
    if (next == lines.end() || next->after.begun_at == 0) return run_.now();
    last = std::max(last, run_.seconds_at(date_of(next->after.begun_at)));
  }
  return last;
}

// Each line once, when its rank has left it. Where times go when they are quiet, events tell of their files, too.
void NotedTimes::note_files(const core::LineId& line, const TimeFiles& files) {
  std::uint64_t& step = step_bytes_[line.sequence];
  for (const auto& [name, file] : files) {
    step += file.mark.size;
    if (run_.carries_times_whole()) run_.figures.closed(file.mark.size);
  }
  largest_step_ = std::max(largest_step_, step);
  if (step_bytes_.size() > steps_measured) step_bytes_.erase(step_bytes_.begin());
}

void NotedTimes::note_freed(int rank, const core::LineId& line, const RankTimesFound& of, const std::string& kept) {
  const auto files = of.files.find(line);
  if (files == of.files.end()) return;
  for (const auto& [file, what] : files->second) {
    if (!is_below(what.path, kept)) continue;
    run_.figures.gone(what.mark.size);
    if (!run_.ledger.find(join(run_.time_directory(rank, line.time), file))) run_.figures.never_shared(what.mark.size);
  }
}

}  // namespace forebay::drain
