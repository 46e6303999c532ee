// Programs: which one of a run began a time. A run may be a script: meshing, decomposition, a solver on ranks,
// reconstruction. The program at work when the times are noticed has begun them, if it was started before them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/base.h"
#include "base/clock.h"

namespace forebay::launch {

// Processes of one name that have no children, below some process of a run.
struct ProgramAtWork {
  std::string name;
  std::vector<pid_t> processes;
  double age = 0;        // seconds since the first of them was started
  bool filters = false;  // one of them reads from a pipe, as `tee` does; so does the first rank of some launchers
};
std::vector<ProgramAtWork> programs_at_work(const std::vector<pid_t>& roots);
bool is_alive(const ProgramAtWork& program);

// The one that can have begun times in the directories of so many ranks (0: in the case's own): with as many
// processes, or the only one. Null where several may have.
const ProgramAtWork* writer_of(const std::vector<ProgramAtWork>& programs, std::size_t ranks);

class TimeWriters {
 public:
  using Look = std::function<std::vector<ProgramAtWork>()>;
  using IsAlive = std::function<bool(const ProgramAtWork&)>;
  // `look`: finds who is at work; it is asked once for a program, and in vain ever more rarely, at last once a second.
  TimeWriters(Look look, IsAlive is_alive) : look_(std::move(look)), is_alive_(std::move(is_alive)) {}

  struct Writer {
    std::string name;
    std::size_t processes = 1;
    double began = 0;  // when its processes were started: another run of the same program began at another moment
  };
  // Learns who is at work before there are times: a short program may have ended when they are noticed.
  void meet(std::size_t ranks, double now);
  // The program that began a time at the moment `when`; `now` is later. nullopt: not known.
  std::optional<Writer> of(std::size_t ranks, double when, double now);

 private:
  struct Kind {
    std::optional<ProgramAtWork> at_work;
    std::optional<Writer> last, before;
    double next_look = 0, pause = 0;
  };
  Look look_;
  IsAlive is_alive_;
  Kind in_ranks_, in_case_;
};

}  // namespace forebay::launch
