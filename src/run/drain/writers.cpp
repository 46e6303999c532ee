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
  state_->end.writers().see(std::move(writers));
}

void LateWriters::see(Writers processes) {
  if (processes != processes_) {
    walk_is_due_ = true;
    work_.not_carried.still_open.clear();
  }
  processes_ = std::move(processes);
  left_doubts_ = left_doubts_ || !processes_.writing.empty() || !processes_.lingering.empty();
}

bool Drain::waits_for_writers() const {
  return state_->run.phase == Phase::carrying && state_->end.writers().is_waiting();
}

std::vector<std::string> Drain::still_open() const {
  return {state_->work.not_carried.still_open.begin(), state_->work.not_carried.still_open.end()};
}

bool LateWriters::leave_doubts() {
  return left_doubts_ && !outlasted_ && !std::exchange(doubts_are_compared_, true);
}

void LateWriters::note_left() {
  std::vector<std::string> left = processes_.writing;
  left.insert(left.end(), processes_.lingering.begin(), processes_.lingering.end());
  if (left.empty()) return;
  run_.note(
      Code::undrained,
      fmt::format("still running when the drain ended: {}; what it writes is only local: run {} on this node when "
                  "it has ended",
                  listed(left), advice::resume(run_.case_now())));
}

// A process that has a file open for writing is waited for as long as patience allows. Other processes of the run may
// open one again (a loop of `echo >> file`): they are waited for while they do so.
bool LateWriters::wait() {
  const auto now = run_.clock.now();
  const bool open = !processes_.writing.empty() || !work_.not_carried.still_open.empty();
  const bool changes =
      !processes_.lingering.empty() && now - work_.progress.last_submitted < run_.request.settings.settle;
  if (!open && !changes) {
    if (!processes_.lingering.empty())
      run_.note(std::nullopt,
                fmt::format("still running when all was home: {}; what it writes to the case from now on is lost",
                            listed(processes_.lingering)));
    return false;
  }
  if (!waiting_since_) {
    waiting_since_ = now;
    next_walk_ = now + writers_interval;
  }
  if (now - *waiting_since_ >= run_.request.settings.patience) {
    const std::string who = listed(!processes_.writing.empty() ? processes_.writing : processes_.lingering);
    const std::string files = listed(work_.not_carried.still_open);
    outlasted_ = true;
    run_.note(
        Code::undrained,
        fmt::format("the program has ended, but {} (drain.patience) later {}; what is open stays in the pool, since it "
                    "would be cut: end that process or let it finish, then run {}",
                    human_duration(run_.request.settings.patience),
                    !who.empty() ? who + (open ? "" : " still writes")
                                 : "a process that cannot be looked into has this open for writing: " + files,
                    advice::resume(run_.case_now())));
    return false;
  }
  if (now >= next_walk_) {
    next_walk_ = now + writers_interval;
    walk_is_due_ = true;
  }
  return true;
}

}  // namespace forebay::drain
