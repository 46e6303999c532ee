// The end waits for processes that outlived the program and still write: what they have open would be cut.
#include <fmt/format.h>

#include "run/advice/commands.h"
#include "run/drain/state.h"

namespace forebay::drain {
namespace {

// The time between two walks while somebody still writes.
constexpr std::chrono::milliseconds writers_interval{200};

}  // namespace

void Drain::set_writers(Writers writers) {
  // Another walk finds what they wrote last.
  if (writers != state_->end.writers.processes) state_->end.writers.walk_again();
  state_->end.writers.processes = std::move(writers);
  LateWriters& late = state_->end.writers;
  late.left_doubts = late.left_doubts || !late.processes.writing.empty() || !late.processes.lingering.empty();
}

bool Drain::waits_for_writers() const {
  return state_->end.phase == Phase::carrying && state_->end.writers.waiting_since.has_value();
}

std::vector<std::string> Drain::still_open() const {
  return {state_->work.not_carried.still_open.begin(), state_->work.not_carried.still_open.end()};
}

// Nothing told of what they did last. True, once, when all must be compared that the case has.
bool LateWriters::leave_doubts() {
  if (!left_doubts || outlasted || std::exchange(doubts_are_compared, true)) return false;
  work.doubts.begin_anew();
  walk_again();
  end.submit_outputs();
  return true;
}

void LateWriters::walk_again() {
  work.not_carried.still_open.clear();
  end.passes = 0;
}

void LateWriters::note_left() {
  std::vector<std::string> left = processes.writing;
  left.insert(left.end(), processes.lingering.begin(), processes.lingering.end());
  if (left.empty()) return;
  run.note(Code::undrained,
           fmt::format("still running when the drain ended: {}; what it writes is only local: run {} on this node when "
                       "it has ended",
                       listed(left), advice::resume(run.case_now())));
}

// Whether the end waits for processes, once nothing else is left to carry. A process that has a file open for writing
// is waited for as long as patience allows. Other processes of the run may open one again (a loop of `echo >> file`):
// they are waited for while they do so.
bool LateWriters::wait() {
  const auto now = run.clock.now();
  const bool open = !processes.writing.empty() || !work.not_carried.still_open.empty();
  const bool changes = !processes.lingering.empty() && now - work.progress.last_submitted < run.request.settings.settle;
  if (!open && !changes) {
    if (!processes.lingering.empty())
      run.note(std::nullopt,
               fmt::format("still running when all was home: {}; what it writes to the case from now on is lost",
                           listed(processes.lingering)));
    return false;
  }
  if (!waiting_since) {
    waiting_since = now;
    next_walk = now + writers_interval;
  }
  if (now - *waiting_since >= run.request.settings.patience) {
    const std::string who = listed(!processes.writing.empty() ? processes.writing : processes.lingering);
    const std::string files = listed(work.not_carried.still_open);
    outlasted = true;
    run.note(
        Code::undrained,
        fmt::format("the program has ended, but {} (drain.patience) later {}; what is open stays in the pool, since it "
                    "would be cut: end that process or let it finish, then run {}",
                    human_duration(run.request.settings.patience),
                    !who.empty() ? who + (open ? "" : " still writes")
                                 : "a process that cannot be looked into has this open for writing: " + files,
                    advice::resume(run.case_now())));
    return false;
  }
  if (now >= next_walk) {
    next_walk = now + writers_interval;
    walk_again();
  }
  return true;
}

}  // namespace forebay::drain
