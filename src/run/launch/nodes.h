// The reports of a run's nodes, for `forebay run`, which waits for them. Another process asks the case, so that nobody
// waits here for a case whose server does not answer. This node's report lies in its pool, too, so it is heard also
// where the case takes nothing.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/question.h"
#include "run/launch/plan.h"
#include "run/launch/report.h"
#include "run/launch/request.h"

namespace forebay::launch {

// Between two readings: where there is something to show, while nobody has told anything yet or somebody sits before a
// terminal, and while the program works. A reading of a report is work for the file server and for this node's mount of
// it, a millisecond or two of a processor that the program would have. A user at a terminal is told within 2 s that the
// program is held back; with many nodes later.
inline constexpr std::chrono::milliseconds showing_interval{200}, expecting_interval{1'000}, resting_interval{10'000};
// A reading of the case is waited for so long; when it takes longer, what was told before is shown.
inline constexpr std::chrono::milliseconds case_answers_within{1'000};
// The removal of the mark of a run that has all at home may take so long.
inline constexpr std::chrono::milliseconds mark_goes_within{10'000};

// When all has been told, the processes of a run without a launcher end within this and drain.patience, in which the
// case is told.
inline constexpr std::chrono::milliseconds processes_end_within{2'000};

// A node is silent when its beat has not changed for drain.silence: agents report at least every few seconds.
class Nodes {
 public:
  // `pool`: this node's first one; empty: not known.
  Nodes(const Plan& plan, std::string pool, Clock& clock);

  void read();
  // Until the next reading while the program works, where the last one was so long after the one before.
  std::chrono::milliseconds next_interval(std::chrono::milliseconds last, bool at_terminal) const;
  // From now on nodes have to tell something new.
  void expect_beats();
  // All have told that they are done, or were silent for too long. Without a launcher also the processes of this node
  // have ended, as far as they do in time.
  bool done();
  // This node is to carry only what the run can be restarted from. False: nobody here can be told, or all is told.
  bool ask_to_leave() const;
  bool is_silent(const std::string& name) const;
  std::vector<NodeReport> reports() const;

  // The case by the name that it has now (present_path.h): it may have been renamed, removed or unmounted.
  Result<std::string> case_path() const;
  // How long it has not answered; nullopt where it has.
  std::optional<std::chrono::milliseconds> case_is_mute_for() const;
  // Whether the run's mark was on the case when it answered last.
  bool has_mark() const { return has_mark_; }
  // Tells it to who waits for it, and takes the run's mark from the case unless that is still needed.
  Status end(const RunEnd& end, bool needs_mark);

 private:
  // Some node stages or drains.
  bool busy() const;
  // A place where nodes tell: by node, the text that it told there last.
  using Place = std::map<std::string, std::string>;
  void take(NodeReport report, const std::string& told, Place& place);
  void take_own();
  void take_answer(const std::string& answer);
  // In the process that is asked: the case, by identity or else by its name.
  std::string case_there() const;

  const Plan& plan_;
  const std::string pool_;
  Clock& clock_;
  Descriptor case_;
  std::optional<Question> question_;
  Clock::time_point asked_;
  bool has_mark_ = true;
  Place on_case_, in_pool_;
  std::map<std::string, NodeReport> reports_;
  std::map<std::string, Clock::time_point> changed_;
  std::optional<Clock::time_point> ends_since_;
};

}  // namespace forebay::launch
