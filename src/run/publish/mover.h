// The mover: a bounded number of threads that publish units in the background.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "run/publish/publish.h"
#include "run/publish/turns.h"

namespace forebay::drain {

struct MoverSettings {
  int threads = 4;
  std::optional<std::uint64_t> bytes_per_second;                   // bandwidth cap over all threads
  PublishSettings publish;                                         // its `pace` is called too, after the cap
  std::chrono::milliseconds first_retry{200}, last_retry{20'000};  // doubled in between
  bool idle_priority = true;                                       // io priority idle and nice 19 for the threads
};

// The end of a unit. `attempts` counts from 1. A failure that may pass (anything but Code::conflict and a local source
// that vanished or cannot be read) is retried for ever until `stop` or `give_up`; each failed attempt is reported too,
// with `final` false. A unit that `make` found to be nothing ends with an empty Published.
struct Outcome {
  std::uint64_t ticket = 0;
  bool final = true;
  int attempts = 1;
  Result<Published> result;
};

struct MoverProgress {
  std::uint64_t queued = 0, active = 0, waiting_for_retry = 0;  // units
  std::uint64_t bytes_written = 0, files_written = 0;           // so far, on the case
  std::uint64_t units_left() const { return queued + active + waiting_for_retry; }
};

// Thread-safe. Destroying it stops it.
class Mover {
 public:
  // `make` builds the unit when its turn comes (so a unit of files that are gone by then costs nothing: return
  // nullopt). Its failure is a failed attempt; final when it says that a local file vanished (ENOENT) or cannot be
  // read (source_unreadable), or carries no errno. `done` is called from a mover thread, for each attempt, and for a
  // published unit once its name is durable. It may submit more, but not stop the mover.
  using Make = std::function<Result<std::optional<layouts::Unit>>()>;
  using Done = std::function<void(const Outcome&)>;

  Mover(SharedFiles& shared, std::string run, MoverSettings settings, Clock& clock);
  ~Mover();
  // Units are started in the order of submission. The ticket is returned at once. One with a place is written like any
  // other, and gets its name when its turn has come. It keeps its place until it has its name, or until leave(). Where
  // it fails again and again while others that are written wait for it, these go before it.
  std::uint64_t submit(Make make, Done done, Place place = {});
  // Nobody waits for this place any more. The caller says so for each final outcome, unless the unit comes again.
  void leave(const Place& place);
  // Waits until nothing is queued or active. True where nothing waits for a retry either.
  bool wait_idle();
  // Units that wait for a retry are tried at once.
  void retry_now();
  // From now on a failed attempt is final, and those waiting for a retry end with their last error.
  void give_up();
  // These units end, the active ones at their next write, and nothing of them is tried again.
  void drop(const std::set<std::uint64_t>& tickets);
  // Ends active units at the next write; queued ones are dropped and not reported.
  void stop();
  MoverProgress progress() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forebay::drain
