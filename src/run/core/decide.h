// The decisions of a node's agent after a look: which times it frees, takes, carries and calls safe.
//
// The rules are S1 to S7 of docs/design.md, "Facts at rest". `decide` is pure: no files, no clock, no threads, no
// memory of its own. A look (`Seen`), what the agent remembers (`Ledger`), what the other nodes reported (`Reports`)
// and the run's settings go in; actions come out.
//
// Words. A *line*: one time of one rank as it was begun, (time, sequence); each rank counts its own lines. A *state*: a
// time with `uniform/time`; a state's number says how many states its rank has made. *Left*: the rank and its writing
// threads have gone on to a later line. *Whole*: left, no write failed, no file is open or torn.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/core/names.h"

namespace forebay::core {

using Rank = int;
using Ticks = std::int64_t;  // of the clock that stamps files

// One time of one rank as it was begun.
struct LineId {
  std::string time;
  std::uint64_t sequence = 0;
  auto operator<=>(const LineId&) const = default;
};

// The same time on all ranks and nodes: the n-th state, or, in programs that make no `uniform/time`, the n-th line.
struct StateId {
  bool has_state = false;
  std::uint64_t number = 0;
  std::string time;
  auto operator<=>(const StateId&) const = default;
};

// The library's record of one line.
struct Line {
  LineId id;
  Ticks begun_at = 0;
  std::uint64_t state = 0;     // the state's number; 0: no `uniform/time`
  std::optional<LineId> mesh;  // the line whose polyMesh it uses
  bool cut = false;            // a write failed
  bool begun_before = false;   // the rank had begun a line of this time before
  bool operator==(const Line&) const = default;
};

// The library's record of one rank.
struct Page {
  std::uint64_t begun = 0;   // sequence of the newest line
  std::uint64_t states = 0;  // how many states it has made
  std::uint64_t place = 0;   // sequence of the line that its writing threads have come to; 0: none has shown itself
  bool ended = false;        // the program has ended well
  bool dead = false;         // the program has ended in whatever way, so it has no threads any more
  bool collated = false;     // it writes collated files, so there may be writing threads
};

struct FileFacts {
  bool open = false;  // it gives no read lease
  bool torn = false;  // it does not end as its kind ends
  Ticks modified = 0;
};
using Files = std::map<std::string, FileFacts>;

// A look at one rank directory: the page, then the names in the tree, then those in keep/, then the page again.
struct RankLook {
  struct OfLine {
    Line before, after;
    bool was_newest = false, is_newest = false;  // the newest line of its time, before and after
    Files files;                                 // in the tree (where the line was the newest of its time) and in keep/
    bool kept = false;                           // keep/ has it: the program has purged it
  };
  Page before, after;
  std::vector<OfLine> lines;  // by sequence

  const OfLine* find(const LineId& line) const;  // null: the look has not found it
};

// The memory of the node's agent from look to look.
struct Ledger {
  int node = 0;
  std::uint64_t window = 1;  // several nodes: of how many states one is carried
  Ticks carried_at = 0;      // when a state was carried last
  std::optional<StateId> safe;
  std::set<StateId> carried;
  Names written;         // names of states that the run has written
  bool drained = false;  // all that the node had is on the case
};

// The last report of another node. Reports may be late, lost, or come in any order.
struct Report {
  std::set<StateId> carried;
  bool drained = false;
};
using Reports = std::map<int, Report>;

struct Settings {
  int nodes = 1;
  std::optional<Names> start;  // names of the start time; none: the run has none
  Ticks interval = 0;          // within which a state is to be carried
  // The program writes the properties of its function objects with each state, and only then: until it has, what it
  // wrote may be of function objects alone, and every name of the start time is required.
  bool tells_states = false;
};

struct Action {
  enum class Kind {
    note_written,  // names that the run has written
    free,          // a line in keep/
    set_window,    // carry one of so many states
    take,          // give all files of a state names that the program does not know
    carry,         // bring a held state to the case
    call_safe,     // a state that all nodes have carried
    end            // all nodes have drained
  };
  Kind kind;
  Names names = {};
  Rank rank = 0;
  LineId line = {};
  std::uint64_t window = 0;
  StateId state = {};
  bool operator==(const Action&) const = default;
};

// One time of one rank, as a look has found it.
struct Time {
  LineId line;
  std::optional<StateId> id;  // none: the time holds no state
  bool left = false, whole = false;
  Names names, own;  // own: written since the line was begun
  std::optional<LineId> mesh;
  bool mesh_is_whole = false;
  bool kept = false;
};
using Times = std::map<Rank, std::vector<Time>>;
// The parts of a state that all ranks of a look have whole.
using Parts = std::map<Rank, const Time*>;

// The states that a look at all ranks of a node has found. It is moved only, since `common` points into `times`.
struct States {
  States() = default;
  States(Times of, const Names& written, const Settings& settings);
  States(States&&) = default;
  States& operator=(States&&) = default;

  Times times;
  std::map<StateId, Parts> common;   // those that all ranks have whole
  std::vector<StateId> restartable;  // those that a program can be started from, newest first
};

// One look at a node.
struct Seen {
  const States& states;  // must outlive this
  bool threads = false;  // has_threads() of one of the ranks
  Ticks now = 0;
  bool ended = false;      // the program has ended on all ranks of the node
  std::set<StateId> held;  // states whose files the agent has under names of its own
};

bool is_left(const Page& page, std::uint64_t sequence);
// The page said of the line something else after the names were read.
bool is_changed(const RankLook::OfLine& of);
// A line that had been left changed while it was looked at: what the look says may be too little.
bool must_look_again(const RankLook& look);
std::vector<Time> times_of(const RankLook& look);

// How many of the newest states a node keeps: other nodes may be so far behind.
std::size_t states_kept(bool threads, int nodes);
// Threads of the program may write, too.
bool has_threads(const RankLook& look);
// The states that the case has after a run that ended badly, newest first. These are so many of the newest ones, and
// each older one that the program has purged and that has names which no newer state has.
std::vector<StateId> last_states(const States& states, std::size_t newest);

std::vector<Action> decide(const Seen& seen, const Ledger& ledger, const Reports& reports, const Settings& settings);

}  // namespace forebay::core
