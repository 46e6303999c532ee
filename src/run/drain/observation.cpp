// Observes the program as a whole: one look, its counts, and faults that concern all times.
#include <sys/stat.h>

#include <algorithm>

#include "run/drain/state.h"

namespace forebay::drain {

Status Observation::look() {
  auto events = read_events();
  if (!events) return forward(events);
  note_failed_writes();
  for (const Event& event : *events) handle(event);
  work_.eviction.forget_own_moves();
  run_.uncarried.flush();
  return {};
}

void Observation::pool_ran_full() {
  work_.checkpoints.distrust();
  run_.trouble = graver(run_.trouble, Code::pool_full);
  const auto first = run_.witnesses.failed_writes ? run_.witnesses.failed_writes->first() : std::nullopt;
  if (!run_.ledger.pool_was_full()) run_.record(pool_full_record(first ? first->path : ""));
}

// The ranks' page tells which times may be cut.
void Observation::note_failed_writes() {
  const std::uint64_t count = run_.witnesses.failed_writes ? run_.witnesses.failed_writes->count() : 0;
  if (count == run_.witnesses.failures_seen) return;
  run_.witnesses.failures_seen = count;
  pool_ran_full();
}

// They are carried like any other files; only when they begin is of interest.
void Observation::note_time_of_script(const Event& event, const openfoam::TimePath& time) {
  if (event.directory && time.rest.empty()) {
    work_.waiting.times().of_script().begun(time.rank, time.time);
    run_.figures.times_of_script().begun(time.time, event.when >= 0 ? event.when : run_.now());
  } else if (event.kind == Event::Kind::closed) {
    if (const auto now = status_of(local_of(run_.roots, event.path)))
      run_.figures.times_of_script().written(time.time, run_.seconds_at(now->st_mtim));
  }
}

}  // namespace forebay::drain
