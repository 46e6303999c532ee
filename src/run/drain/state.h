// What the parts of a Drain share. Private to the room.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/core/restartable.h"
#include "run/drain/candidates.h"
#include "run/drain/checkpoint.h"
#include "run/drain/drain.h"
#include "run/drain/failed_writes.h"
#include "run/drain/hold.h"
#include "run/drain/keep.h"
#include "run/drain/times.h"
#include "run/drain/walk.h"
#include "run/drain/watch.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {

// A local file, whatever its names.
using FileId = std::pair<dev_t, ino_t>;
// Where the case has files that are to get a second name.
using Partners = std::map<FileId, layouts::HardLink>;

// What a unit was made of, filled by a mover thread in Mover::Make and read by the agent's thread when the outcome is
// there (the queue of outcomes orders the two).
struct Prepared {
  std::map<std::string, LocalMark> marks;     // by path on the case
  std::map<std::string, std::string> links;   // path on the case -> target
  std::map<std::string, mode_t> directories;  // made or found on the case, with the mode that was asked for
  std::optional<Owner> owner = {};            // directory: whom the program gave it to
  bool postponed = false;                     // still open for writing: try again later
  std::vector<std::string> removed;           // from the case
  Sources sources;                            // group_time
  bool not_collatable = false;                // group_time: the layout cannot hold it
  std::set<FileId> several_names;  // files with names elsewhere: whether the case has one must be known first
};

// Where files of a time have other names that are ours: kept aside, or in the tree.
using OwnNames = std::map<std::string, std::vector<std::string>>;
// Makes those files of a time that have a name on the case already hard links to it. False: whether they have must be
// found out first (`several_names`).
bool use_partners(layouts::Unit& unit, const std::string& directory, const OwnNames& own, const Partners* partners,
                  Prepared& prepared);

struct Job {
  enum class Kind { file, directory, rank_time, group_time, checkpoint, removal };
  Kind kind = Kind::file;
  std::string key;         // what is in flight: a path on the case
  int rank = 0, last = 0;  // rank_time: rank; group_time: first and last
  std::string time;        // checkpoint: the version that was kept; empty: as the program left it
  bool from_keep = false;
  std::shared_ptr<Prepared> prepared;
};

// How the files of a group lie here now, compared with those that it was made of.
struct GroupNow {
  bool as_carried = false;
  bool all_there = false;    // all of them, perhaps newer, and perhaps more
  bool late = false;         // something is here that the group does not have
  bool directories = false;  // every rank's is there, and was not emptied to make room
};

// Outcomes cross from the mover's threads to the agent's thread here.
class Outcomes {
 public:
  Outcomes();
  void push(Outcome outcome);
  std::vector<Outcome> take();
  int descriptor() const { return signal_.get(); }

 private:
  std::mutex mutex_;
  std::vector<Outcome> outcomes_;
  Descriptor signal_;
};

// The temporary names that are on the case now. Thread-safe.
class Temporaries {
 public:
  void tell(const std::string& path, bool made);
  std::set<std::string> names() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::string> names_;
};

struct Drain::State {
  explicit State(const DrainRequest& from) : request(from), keep(from.settings.mover.publish.umask) {}

  using RankTimes = std::set<std::pair<int, std::string>>;

  DrainRequest request;
  std::unique_ptr<SharedFiles> shared;
  std::optional<Journal> journal;
  Ledger ledger;
  std::optional<Watcher> watcher;
  Times times;
  Keep keep;
  std::optional<Hold> hold;  // where the redirection library is loaded
  bool room_is_scarce = false, room_was_scarce = false;
  std::optional<FailedWrites> failed_writes;  // likewise
  std::uint64_t failures_seen = 0;            // of them
  std::vector<Checkpoint> checkpoints;
  std::vector<Root> roots;
  std::string being_put;  // what add_directory() is giving its name: not the program's act
  Outcomes outcomes;
  Temporaries temporaries;

  std::map<std::string, Clock::time_point> pending;  // closed files outside new times, and when they last changed
  // Files of times that a listing found: whether they were closed before the watch was set is not known. They are asked
  // when they have been quiet for a moment, or when the rank goes on.
  struct Unsure {
    int rank;
    std::string time, file;
    Clock::time_point found;
  };
  std::map<std::string, Unsure> unsure;
  RankTimes made_in_batch;      // of which the events in hand tell the making of a directory
  std::set<int> left_in_batch;  // ranks that have left a time by the events in hand
  // Times of which a directory was listed only when the rank had begun the next.
  struct Suspect {
    int rank;
    std::string time, next;
    bool removed;  // what has its name now is another
  };
  std::vector<Suspect> suspects;  // in the order in which they were left
  // Left behind by all ranks when they were first seen: neither watched nor kept aside, nor looked into before they
  // must be. With the number of files that were found then.
  std::map<std::pair<int, std::string>, std::uint64_t> passed_over;
  // Where ranks hold times: how many files those had that were let go, while the program has them still.
  std::map<std::pair<int, std::string>, std::uint64_t> files_forgotten;
  std::map<std::uint64_t, Job> jobs;            // by ticket
  std::set<std::string> in_flight;              // keys of jobs
  std::map<std::string, std::string> failures;  // key -> last error, of what is not carried yet
  std::set<std::string> given_up;               // conflicts, by path or time directory
  std::set<std::string> drained_times;          // for all ranks of the node
  RankTimes drained_ranks;                      // of other times
  std::set<std::string> safe_times;             // drained for all ranks of the node
  std::set<std::string> superseding;            // safe times that a newer one may supersede (hold_times)
  std::vector<std::string> to_leave, leaving;   // not called safe any more; and that was told (told())
  std::set<std::string> late_files_of;          // times of which a file was closed since they were looked at
  std::set<std::string> not_collatable;         // times that the collated layout cannot hold
  Timeline timeline;
  // Complete and restartable, as run/core/restartable.h decides; newest_safe: on the case.
  std::optional<std::string> newest_complete, newest_safe;
  std::optional<std::string> agreed, pinned;
  std::optional<std::string> newest_everywhere;  // on the case for the ranks of all nodes
  std::set<std::string> kept_by_others;          // times that other nodes keep beside newer ones
  static constexpr std::size_t most_jobs = 2048, most_pending = 16'384;
  bool overlooked = false;             // more files were closed than `pending` holds: they are found by looking
  std::optional<OutputWalk> catch_up;  // looks for them
  std::map<std::string, std::string> placed_names;  // placed file -> its path in the case, as last told
  std::deque<std::string> waiting_times;            // complete, to be submitted when fewer jobs wait
  std::map<int, Clock::time_point> doubtful;        // rank -> its last closing that nothing vouches for
  Candidates candidates;                            // while several nodes have not agreed
  std::optional<std::string> newest_candidate;      // the last one that was added to them
  std::vector<std::string> recently_safe;           // the newest restartable ones, oldest first
  std::vector<std::pair<int, int>> groups;

  enum class Phase { running, carrying, removing, done };
  Phase phase = Phase::running;
  bool ended_cleanly = false, gave_up = false, journal_failed = false;
  bool pool_is_full = false;
  bool times_go = false;            // the program has removed some
  bool names_too_long = false;      // to be kept: ranks must tell of each file that they remove
  std::set<std::string> beginning;  // directories whose beginning the events in hand tell, until that event is handled
  std::atomic<bool> ending{false};  // not running any more, for jobs
  int passes = 0;
  std::optional<OutputWalk> walk;  // of the pass that is under way
  std::size_t submitted_in_pass = 0;
  std::vector<std::string> changed_modes;  // directories
  Clock::time_point start = Clock::now(), last_safe = start, last_progress = start;
  std::uint64_t progress_mark = 0;
  std::uint64_t largest_step = 0, step_began_at = 0;  // local bytes

  std::vector<std::string> messages;
  std::optional<Code> trouble;
  std::uint64_t local_files = 0, local_bytes = 0, shared_files = 0, shared_bytes = 0, kept_from_shared = 0;
  RankTimes unseen;                // times of ranks that were begun, and of which no file was told yet
  std::uint64_t unseen_times = 0;  // of these, removed by the program
  std::uint64_t undrained_files = 0, undrained_bytes = 0;

  // Last, so that its threads end before anything that they use.
  std::unique_ptr<Mover> mover;

  Status record_staged(const std::vector<tree::Entry>& staged);

  // events.cpp
  static std::optional<openfoam::TimePath> time_of(const std::string& path, bool is_directory);
  void handle(const Event& event);
  void follow_rank_link(const std::string& name);
  void handle_time(const Event& event, int rank, const std::string& time, const std::string& rest);
  void file_is_closed(const std::string& path, int rank, const std::string& time, const std::string& file);
  void count_local(const std::string& path);
  void count_late(const std::string& path);
  enum class Ask { left, quiet, all };
  void ask_unsure(Ask ask);
  Status look();
  Result<std::vector<Event>> read_events();
  RankTimes superseded_by(const std::vector<Event>& told) const;
  std::set<std::string> times_to_pass_over(const std::vector<Event>& told);
  void look_into_passed_over(bool all);
  void leave_current(int rank, const std::string& next);
  void trust_like_others();
  void settle_suspects(int rank);
  void let_go(const std::string& time);
  void find_times();
  void adopt(int rank);
  bool may_let_ranks_free() const;
  void begin_time(const std::string& time);
  void count_if_unseen(int rank, const std::string& time, bool removed);
  void purged_at_once(int rank, const std::string& time);
  void handle_other(const Event& event);
  void handle_placed(const Event& event);
  void wait_for_quiet(const std::string& path);
  void find_overlooked();
  void removed_by_program(const std::string& path);
  void events_lost();
  void new_complete_times();
  void submit_waiting();
  void release_kept();
  void pool_ran_full();
  void note_failed_writes();

  // restart.cpp
  core::Written written;
  // Complete times that are held here, and that the case has, each in the order in which they were begun.
  std::vector<core::WholeTime> whole_times, safe_whole_times;
  // As long as all complete times that were looked into have the same names, none need be looked into to be given up.
  std::optional<core::NamesOfRanks> alike_names;
  bool times_are_alike = true;
  core::Required required() const;
  core::NamesOfRanks names_here(const std::string& time) const;
  core::NamesOfRanks names_on_case(const std::string& time) const;
  core::NamesOfRanks names_anywhere(const std::string& time) const;
  bool is_home(const std::string& time) const;
  void renew_names(const std::string& time);
  void note_whole(const std::string& time);
  void choose_restart_points();
  void choose_safe(const core::Required& needed);
  bool note_safe(const std::string& time);
  std::vector<std::string> restart_points() const;
  bool is_superseded(int rank, const std::string& time, const core::Names& names) const;
  std::optional<std::string> newest_anywhere() const;
  std::map<std::string, std::string> kept_beside() const;
  Status find_last_times(bool resumed);
  void add_found(const std::set<std::string>& whole, const std::map<std::string, core::NamesOfRanks>& handed_over);
  bool keep_aside(const std::string& time);
  bool keep_restart_points();

  // submit.cpp
  void submit(Job job, Mover::Make make);
  void submit_file(const std::string& path, bool must_be_sealed, std::shared_ptr<const Partners> partners = nullptr);
  void submit_directory(const std::string& path);
  void submit_rank_time(int rank, const std::string& time, bool from_keep,
                        std::shared_ptr<const Partners> partners = nullptr);
  void submit_group_time(int first, int last, const std::string& time, bool from_keep);
  void submit_time(const std::string& time, bool from_keep);
  void submit_held();
  void find_superseded();
  void remove_superseded();
  bool may_remove_superseded() const;
  std::set<std::string> purged_from(const std::string& time) const;
  void submit_removal(const std::string& path);
  void settle(const Outcome& outcome);
  // They are on the case, whatever became of what they were made for.
  void note_made_directories(const Job& job);
  void carried(const Job& job, const Published& published);
  void time_carried(const std::string& time);

  // groups.cpp
  std::vector<std::pair<int, int>> groups_of_ranks() const;  // that follow each other: first and last
  std::string group_target(int first, int last, const std::string& time) const;  // path on the case
  bool is_given_up(int rank, const std::string& time) const;
  std::optional<std::map<std::string, Identity>> carried_group(const std::string& target) const;
  Result<GroupNow> look_at(const CollatedTime& group, bool must_be_sealed) const;
  bool renew_if_changed(const CollatedTime& group, const Result<GroupNow>& now);
  void renew_changed_groups();
  void tell_of_changed_groups();
  bool is_untouched(const std::string& target) const;
  void remove_replaced_groups();

  // evict.cpp
  std::set<std::string> nothing_to_evict;  // pools without files that the case has too, as long as no job ends
  std::set<std::string> changed_groups;    // on the case, that are not as they lie here: they stay until the end
  std::string evictable(const std::string& path, const Known& known, const std::string& pool) const;
  std::uint64_t evict_carried(std::uint64_t wanted, const std::string& pool);
  std::uint64_t evict_files(std::uint64_t wanted, const std::string& pool);
  std::uint64_t evict_group(const CollatedTime& group, const std::string& pool);

  // checkpoints.cpp
  bool unfinished_checkpoint = false;  // something of one is left behind, since the case has a whole version
  Status open_checkpoints();
  Checkpoint* checkpoint_of(std::string_view path);  // that `path` lies in
  void handle_checkpoint(Checkpoint& checkpoint, const Event& event);
  void settle_checkpoints();
  void carry_checkpoint(Checkpoint& checkpoint);
  void submit_checkpoint(Checkpoint& checkpoint, std::optional<int> version);
  void checkpoint_carried(const Job& job, const Published& published);
  void checkpoint_landed(const Job& job, bool home);
  void submit_last_checkpoints();
  bool stays_behind(const Checkpoint& checkpoint) const;

  // links.cpp
  std::map<FileId, std::string> carrying;  // files with several names that are on their way, and by which job
  std::uint64_t separated = 0;             // second names that became files of their own
  void find_partners(const Job& job);
  void note_second_name(const PublishedFile& file);

  // acts.cpp
  std::map<std::string, std::set<int>> purged_kept;       // kept times that the program removed, and for which ranks
  std::set<std::string> removed_in_flight;                // by the program, while on their way to the case
  std::map<std::string, std::set<std::string>> borrowed;  // input -> names that stand for its content
  std::set<std::string> ways;                             // names that must be removed before others can be carried
  void note_removal_in_flight(const std::string& path);
  void catch_up_removal(const std::string& path);
  void note_renamed_input(const std::string& origin, const std::string& path);
  bool free_borrowers(const std::string& origin);
  std::string in_the_way(const std::string& path) const;
  bool make_way();
  void note_written_inputs();

  // resume.cpp
  std::set<std::string> times_of_groups;  // though the journal does not call them complete
  Status find_groups();

  // writers.cpp
  Writers writers;
  std::set<std::string> still_open;                // keys of what waits for a file to be closed, at the end
  std::optional<Clock::time_point> waiting_since;  // nothing else was left
  Clock::time_point next_look{}, last_found{};     // last_found: when something was last submitted
  bool outlasted = false;                          // by somebody who still wrote when patience was over
  void look_again();
  bool wait_for_writers();

  // unreadable.cpp
  std::map<std::string, std::string> unreadable;  // what this user may not read, by path, and what was told of it
  RankTimes in_pieces;                            // times that hold such files: the others are carried one by one
  std::size_t undrained_unreadable = 0;           // at the end
  void note_unreadable(const std::string& path, const Error& error, std::optional<Code> code);
  bool set_aside_unreadable(const Job& job, const Error& error);

  // finish.cpp
  void submit_outputs();
  void submit_more_outputs();
  void submit_found(const std::vector<Output>& found);
  void submit_last_complete();
  void submit_purged(const std::string& time);
  void submit_newest_candidates();
  bool pools_intact();
  bool remove_from_case(const std::string& path,
                        std::string_view reason = "the program removed a file, the case still has it");
  void remove_deleted();
  void count_undrained();
  void remove_stale();
  bool worth_waiting();

  void record(const std::vector<Record>& records);
  void record(const Record& entry) { record(std::vector<Record>{entry}); }
  void note(std::optional<Code> code, const std::string& message);
  bool is_drained(int rank, const std::string& time) const;
  bool is_new_time(int rank, const std::string& time) const;
  bool serves(int rank) const;
  bool holds_times() const { return !request.settings.live || request.settings.hold_times; }
  bool alone() const;                                                   // no other node has ranks of this run
  std::string time_directory(int rank, const std::string& time) const;  // path on the case
  std::vector<std::string> times_here(int rank) const;                  // directories of the rank's local tree
  double now() const;
};

std::unique_ptr<Mover> make_mover(const DrainRequest& request, SharedFiles& shared, Journal& journal,
                                  Temporaries& temporaries);

}  // namespace forebay::drain
