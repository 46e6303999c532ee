// What was seen of the program, as a whole: one look, its counts, and what goes wrong for all times.
#include <sys/stat.h>

#include <algorithm>

#include "run/drain/state.h"

namespace forebay::drain {
namespace {

std::uint64_t bytes_of(const std::optional<struct stat>& file) {
  return file ? static_cast<std::uint64_t>(file->st_size) : 0;
}

}  // namespace

bool Observation::serves(int rank) const {
  const auto& ranks = times.ranks();
  return std::ranges::find(ranks, rank) != ranks.end();
}

bool Observation::alone() const {
  return run.request.settings.all_ranks <= static_cast<int>(times.ranks().size());
}

Status Observation::look() {
  auto events = read_events();
  if (!events) return forward(events);
  note_failed_writes();
  batch.left.clear();  // a time may have been left without events
  for (const Event& event : *events)
    if (event.directory && !event.gone()) batch.beginning.insert(event.path);
  for (const Event& event : *events) handle(event);
  work.eviction.own_moves.clear();
  batch.beginning.clear();
  late.trust_like_others();
  batch.made.clear();
  run.uncarried.flush();
  policy.new_complete_times();
  return {};
}

// Where times are carried while the program runs, or several nodes must agree on one, it is known only here what may
// go.
bool Observation::may_let_ranks_free() const {
  return run.holds_times() && alone() && !room.is_scarce && !room.pool_is_full && !run.ledger.lost_events() &&
         !names_too_long;
}

void Observation::pool_ran_full() {
  work.checkpoints.distrust();
  run.trouble = graver(run.trouble, Code::pool_full);
  const auto first = room.failed_writes ? room.failed_writes->first() : std::nullopt;
  if (!run.ledger.pool_was_full()) run.record(pool_full_record(first ? first->path : ""));
}

// The ranks' page tells which times may be cut (hold.h), until a rank begins an older one.
void Observation::note_failed_writes() {
  const std::uint64_t count = room.failed_writes ? room.failed_writes->count() : 0;
  if (count == room.failures_seen) return;
  room.failures_seen = count;
  pool_ran_full();
  for (const std::string& time : times.all())
    if (hold && hold->may_lack(time) && !times.complete(time))
      for (const int rank : times.ranks()) times.spoil(rank, time);
}

// By any of its ranks.
void Observation::begin_time(const std::string& time, double when) {
  const std::size_t before = timeline.steps();
  timeline.begun(time, when >= 0 ? when : run.now());
  if (timeline.steps() == before) return;
  Numbers& numbers = run.numbers;
  numbers.largest_step = std::max(numbers.largest_step, numbers.local_bytes - numbers.step_began_at);
  numbers.step_began_at = numbers.local_bytes;
}

// They are carried like any other files; only when they begin is of interest.
void Observation::note_time_of_script(const Event& event, const openfoam::TimePath& time) {
  if (event.directory && time.rest.empty()) {
    of_script.ranks.insert(time.rank);
    of_script.timeline.begun(time.time, event.when >= 0 ? event.when : run.now());
  } else if (event.kind == Event::Kind::closed) {
    if (const auto now = status_of(local_of(run.roots, event.path)))
      of_script.timeline.written(time.time, run.seconds_at(now->st_mtim));
  }
}

void Observation::file_is_closed(const std::string& path, int rank, const std::string& time, const std::string& file,
                                 bool again) {
  const auto now =
      keep.contains(rank, time, file) ? keep.status(rank, time, file) : status_of(local_of(run.roots, path));
  if (now) timeline.written(time, run.seconds_at(now->st_mtim));
  run.uncarried.closed(path, bytes_of(now), run.now());
  if (!again) run.numbers.closed(bytes_of(now));
  times.file_closed(rank, time, file);
  late_files_of.insert(time);
  doubtful[rank] = run.clock.now();
  // Written again after the time was carried, or a late function object: carried as a file of its own. What belongs to
  // a group is found at the end (Groups::renew_changed): alone it would hide the group.
  if (work.drained.contains(rank, time) && !run.ledger.collated_of(rank, time)) others.wait_for_quiet(path);
}

// What was written in an earlier step.
void Observation::count_late(const std::string& path) {
  Numbers& numbers = run.numbers;
  const std::uint64_t bytes = bytes_of(status_of(local_of(run.roots, path)));
  numbers.closed(bytes);
  numbers.step_began_at += bytes;
}

}  // namespace forebay::drain
