// drain: carries what a run writes locally to the case, whole and verified, while the program runs and after it.
//
// One Drain serves one node of one run. It watches the local trees, and knows what is sealed and which times are
// complete. It keeps the last states that the program purges, and publishes units through the mover. At the end it
// decides on every path: outputs are carried, the program's own deletions follow last, and whatever cannot be carried
// is named. It holds no process and no socket: the node's agent (launch) drives it from one thread through descriptors
// and ticks.
//
// Promises (docs/design.md, "Why it is safe"):
//   - under a final name on the case there is only whole, verified content;
//   - a file of the case is replaced or removed only if it still is the one that was staged or drained;
//   - absence never deletes: a removal needs a journalled act of the program, and intact sentinels at the end;
//   - the report names output that is not carried, and report().trouble is then set.
// Must not know: how processes are started, how trees become visible to them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/base.h"
#include "run/contract/text.h"
#include "run/control/control.h"
#include "run/core/decide.h"
#include "run/drain/figures.h"
#include "run/drain/only_local.h"
#include "run/journal/ledger.h"
#include "run/publish/mover.h"
#include "run/tree/tree.h"
#include "run/tree/warm.h"

namespace forebay::drain {

// A local directory and the directory of the case that it is the image of.
struct Root {
  std::string local;   // absolute
  std::string prefix;  // relative to the case; "" for the tree itself, "processor3" for a rank's directory
  std::string pool;    // the run's directory in the pool that holds it; its sentinel proves that the pool is intact
};

struct DrainSettings {
  bool collated = false;
  bool live = true;         // false: hold what may wait until the program has ended
  bool hold_times = false;  // times wait for the end or the safety interval (the program purges them itself)
  bool redirected = false;  // the redirection library is loaded: it writes the page of the ranks (pages.h)
  int all_ranks = 1;        // of the whole run
  std::vector<std::string> checkpoints = {};  // directories of the case whose files are one state (checkpoint.h)
  // The time that the run starts from, where there is one, and directories of groups of ranks that may hold it.
  std::optional<std::string> start_time = {};
  std::vector<std::string> start_groups = {};
  contract::WrittenGroups written_groups = {};
  std::chrono::milliseconds safe_interval = std::chrono::minutes(10);
  std::chrono::milliseconds settle = std::chrono::seconds(2);
  std::chrono::milliseconds refresh = std::chrono::seconds(5);   // of what grows on the case
  std::chrono::milliseconds look = std::chrono::seconds(1);      // between two looks at the times
  std::chrono::milliseconds patience = std::chrono::minutes(2);  // at the end, without any progress, before giving up
  MoverSettings mover;
};

struct DrainRequest {
  std::string case_path, run;
  std::string home;      // the run's directory in the home pool: journal, keep
  std::string lower;     // what staged links point into
  bool durable = false;  // the pool survives the node
  DrainSettings settings;
  // Directories of other pools that hold files of the tree (placed.h), each in its pool's run directory.
  std::vector<std::string> placed = {};
  std::vector<LinkedDirectory> linked = {};
  std::map<std::string, std::uint64_t> devices = {};  // of the run's directories in pools, as they were at its start
  std::uint64_t budget = UINT64_MAX;  // bytes that the run may have in the home pool, as it was asked for
  std::set<std::uint64_t> logs = {};  // inodes in the case of what the run prints to: that these change is no news
  control::Watched control = {};      // where the case is looked at for what the program is to see
};

// A log or history that appears on the case while it grows: bytes.
struct GrowingAmount {
  std::uint64_t local = 0, on_case = 0;
};
struct Growing {
  std::map<std::string, GrowingAmount> files;  // by path in the case; the first hundred
  std::uint64_t more = 0;                      // files
};

// A file of the case, as it was read there.
struct CaseFile {
  std::string text;
  mode_t mode = 0644;  // permission bits
  timespec modified = {};
};

// Where things stand while the program works, or is being drained.
struct Standing {
  std::optional<std::string> newest_begun;  // the time that was begun last
  OnlyLocalAmount only_local;
  Growing growing;
  // The newest time that is restartable and on the case for all ranks that a script started by itself.
  std::optional<std::string> safe_of_script;
  std::uint64_t ranks_of_script = 0;
};

struct DrainReport {
  std::optional<Code> trouble;        // the gravest of all; nullopt: none
  std::vector<std::string> messages;  // one line per trouble, with path and advice
  std::vector<std::string> notices;   // one line each, of what asks for nothing
  Amounts amounts;
  Standing standing;
  // Only times that a run may restart from (run/core/restartable.h).
  std::optional<std::string> newest_complete, newest_safe;
  std::uint64_t safe_times = 0;  // how many times have become safe
  std::vector<TimelineEntry> timeline;
  std::vector<std::pair<int, int>> groups;  // collated: contiguous groups of ranks
};

// The work that a Drain has done so far, and whether it has work now.
struct Activity {
  double seconds = 0;  // since the Drain was made
  std::uint64_t written_bytes = 0, carried_bytes = 0;
  bool busy = false;  // something is being carried, or waits for that
};

// The graver of two troubles: lost, then undrained, conflict, pool_full, failed. Data that is only local must never be
// hidden behind another trouble, since pools are removed then.
std::optional<Code> graver(std::optional<Code> a, std::optional<Code> b);

// True while a pool holds something that is nowhere else, or evidence of a loss: it must not be removed.
inline bool needs_pool(std::optional<Code> trouble) {
  return trouble == Code::undrained || trouble == Code::lost;
}

// Processes that outlived the program that was started, each as a text for people.
struct Writers {
  std::vector<std::string> writing;    // and have files of the trees open for writing
  std::vector<std::string> lingering;  // and work for the run or in its trees, but have nothing open for writing now
  friend bool operator==(const Writers&, const Writers&) = default;
};

class Drain {
 public:
  static Result<std::unique_ptr<Drain>> open(const DrainRequest& request, Clock& clock);
  // A Drain from the journal that a dead one left: watches nothing, can only finish.
  static Result<std::unique_ptr<Drain>> resume(const DrainRequest& request, const std::vector<Root>& roots,
                                               const std::vector<int>& ranks, Clock& clock);
  // In the place of an agent that was killed, while its program works: carries nothing, and only frees what that
  // purges.
  static Result<std::unique_ptr<Drain>> stand_in(const DrainRequest& request, const std::vector<Root>& roots,
                                                 const std::vector<int>& ranks, Clock& clock);
  ~Drain();

  // Begins to watch an image; `staged` lists what was put there. The call comes before any program runs in the image.
  Status add_root(const Root& root, const std::vector<tree::Entry>& staged);
  // A directory of an image that is watched already, with all that is in it: `put` gives it its name there, which must
  // not be told as an act of the program.
  Status add_directory(const std::string& path, const std::vector<tree::Entry>& staged,
                       const std::function<Status()>& put);
  // Something in the ranks' directories leads out of the case by its text: the kernel must come to it by the case's
  // path.
  void ranks_need_case_path();
  // A rank of this node and its run directory in its pool.
  Status add_rank(int rank, const std::string& pool);
  // Gives the program another version of an input, newer than the one that it has: the case's own stays as it is, since
  // this is no output. `on_case`: the input as the case has it now. False: not yet, since the case is to get first what
  // the program itself has written there.
  using Change = std::function<Result<std::string>(const std::string& text)>;
  Result<bool> change_input(const std::string& path, const CaseFile& on_case, const Change& change);

  // Poll these; call on_events() when the first is readable or events_wait(), on_outcomes() when the second is
  // readable.
  int events_descriptor() const;
  // Takes in the events that there are, so that the kernel need not drop any. True when they are many: on_events() is
  // due.
  bool events_crowd();
  // True when events were taken in since on_events().
  bool events_wait() const;
  int outcomes_descriptor() const;
  Status on_events();
  void on_outcomes();
  // To be called at least every second: finds whole checkpoints, submits, keeps the safety interval.
  void tick();

  // When it is time for a look, what is superseded of what the program has purged goes.
  void free_purged();
  // Back-pressure: makes room in the pools below `pool` by replacing what is drained with links; returns the bytes
  // freed. Where that is not enough, what is held for the end is carried now.
  std::uint64_t evict(std::uint64_t wanted, const std::string& pool = "/");
  // True while something could still be drained, or evicted there.
  bool can_make_room(const std::string& pool = "/") const;
  // A rank asks for a look at the times: tick() is due.
  bool look_is_wanted() const;
  // Room is so scarce that what fails to be written is not told of where programs have no library.
  void room_is_scarce(bool now);
  // As Timeline's, of each kind of directories: to be called after on_events().
  std::vector<Timeline::Begun> take_begun(bool all);
  // The work that was done until now.
  Activity activity() const;
  // The most bytes that the program wrote from one time's beginning to the next.
  std::uint64_t largest_step() const;
  // Whether a pool is full now, to be told before on_events(): once it was, the run's exit will not be 0, and times
  // that were written in the meantime are never called complete.
  void pool_is_full(bool now);

  // The newest time that all other nodes have told to be on the case for their ranks. The node of the first rank brings
  // times when the others have, so that whoever looks for them there finds whole ones.
  void on_case_elsewhere(const std::string& time);
  // Takes in the last reports of the run's other nodes; `nodes` counts all nodes. A state that all of them have carried
  // is safe.
  void hear(core::Reports reports, int nodes);
  // States that are on the case for all ranks of this node.
  const std::set<core::StateId>& carried() const;
  // The newest restartable ones that this node still has, oldest first.
  std::vector<std::string> complete_times() const;
  // Some rank of this node has times of its own.
  bool writes_times() const;
  // The caller has published what report() and safe_times() said last. A time that is superseded now is not called safe
  // in the next report. It leaves the case when the report after that one is published: nothing goes that somebody may
  // just have read of. Frequent calls would shorten this delay.
  void told();
  // The newest of those that are on the case for all ranks of this node, oldest first.
  std::vector<std::string> safe_times() const;

  // A program that is killed closes its files too, so that a checkpoint looks whole: whether somebody is to look now if
  // it is alive and not ending, and to say so.
  bool doubts_checkpoints();
  void vouch_for_checkpoints();
  void rank_ended(int rank, bool cleanly);
  // The program has ended: submit all that is left. `cleanly`: with status 0; of a resumed run its journal may tell.
  Status begin_finish(bool cleanly);
  // Drives the end; true when nothing is left to do (or patience is over). The caller repeats it on outcomes and ticks.
  bool finished();
  // Tells which processes may still write, though the program has ended. The caller does so before begin_finish(), and
  // again and again while waits_for_writers(). No file that is open for writing gets its name on the case. When all
  // else is carried, the end waits for these processes, for `patience` at most.
  void set_writers(Writers writers);
  bool waits_for_writers() const;
  // Files and times on the case that wait for a file to be closed.
  std::vector<std::string> still_open() const;
  // More of DrainRequest::logs: to be told before finished().
  void add_logs(const std::set<std::uint64_t>& inodes);
  // After begin_finish: what the run can be restarted from is carried first, and nothing else any more.
  void carry_restartable_only();
  // Stops as soon as possible; what is not drained stays local.
  void abandon();

  // With the entries of the timeline that were told of last, at most so many.
  Standing standing() const;
  DrainReport report(std::size_t timeline_entries = SIZE_MAX) const;
  MoverProgress progress() const;
  // The case by the name that it has now.
  std::string case_path() const;
  // Why something could not be carried that is tried again; empty: there is no such thing.
  std::string failure() const;
  // The program's files that are `wanted` (by their path) and that the case holds as they lie here.
  std::vector<tree::WarmFile> carried_files(const std::function<bool(const std::string& path)>& wanted) const;

 private:
  void follow_case();
  struct State;
  explicit Drain(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// True when nothing has `path` open for writing (a read lease can be had; mappings count as open).
bool is_sealed(const std::string& path);
// True when a process is known to have `path` open for writing. False where the file cannot be opened: reading it will
// tell.
bool is_open_for_writing(const std::string& path);

// Where what a rank purges goes, in its run directory of its pool (look.h).
std::string kept_directory(int rank, const std::string& pool_directory, const contract::WrittenGroups& groups);

// The file in which the ranks of a node write down their times (pages.h), in the run's directory in the home pool.
inline constexpr const char* pages_name = "pages";

// The list of writes that failed in the node's programs (failed_writes.h), likewise.
inline constexpr const char* failed_writes_name = "failed-writes";

// The names of files that the case does not have (uncarried.h), likewise.
inline constexpr const char* uncarried_name = "uncarried";
// To be called by who sees a program of the run alive while no Drain is at work: what is removed from the pool until
// then may have been removed by that.
void tell_alive(const std::string& home);
// Nothing of this name is missed any more when the run is resumed; what is missing already stays so. False where the
// run knows no file at or below it.
bool drop_uncarried(const std::string& home, const std::vector<Root>& roots, const std::vector<std::string>& placed,
                    const std::string& path);
// Files of a dead run's program that something else than the program removed from the pools.
std::set<std::string> missing_files(const std::string& home, const std::vector<Root>& roots,
                                    const std::vector<std::string>& placed);

// Notes the names beside the case that the program sees as links by the way `path`. The end tells which of them the
// program removed.
Status note_beside(const std::string& home, const std::vector<std::string>& names);

// The sentinel of a run in a pool directory.
inline constexpr const char* sentinel_name = "run.json";

}  // namespace forebay::drain
