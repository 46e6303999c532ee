// One job in the simulated world: its program, its nodes, its agents, and the record of what was really written.
#pragma once

#include <memory>
#include <ostream>

#include "actor.h"
#include "world.h"

namespace forebay::simulator {

// One output time of the program's plan.
struct Output {
  int index = 0;
  std::string time;
  bool full = false;               // it holds the whole state
  std::vector<std::string> names;  // in the order in which they are written
  std::optional<Rank> only_on, cloud_on;
  bool has_mesh = false, has_late_file = false;
  std::string by_fork;  // a file that a forked child writes
};

// How the program writes, drawn from the seed.
struct Habits {
  int ranks = 1, nodes = 1;
  bool faults = false, threads = false, has_closing_lines = false, master_writes_for_all = false,
       makes_state_files = true;
  bool writes_again = false;  // times are begun again in place
  bool forks = false;         // children write files that the main process has opened
  bool is_long = false;       // many small states on several nodes whose agents are slow: the windows must settle
  bool every_second_is_poor = false;
  Names by_thread;
  int most_behind = 2;  // how many times a thread may be behind
  int agent_pause = 4, most_ahead = 1, kept_by_program = 0;
  Ticks interval = 25;
  double tick = .25;  // how often a step ends a tick of the clock that stamps files
  enum class Purge { rename, files, child } purge = Purge::rename;
  std::optional<Names> start;  // names of the start time; none: the run has none
};

class Run {
 public:
  Run(Random& random, Case& the_case, int number, const std::string& first = "0", const Run* like = nullptr);

  // Until program and agents have ended, or the limit: then the job is killed.
  void go(int limit);
  void step();
  void kill_agent(Node& node);
  void start_agent(Node& node);
  template <class Which>
  void end_actors(Which which) {
    std::erase_if(actors, [&](const Scheduled& each) { return which(*each.actor); });
  }
  void add(std::unique_ptr<Actor> actor);
  void tell(const std::string& what) const;
  // For a comparison with the rules in Python: a line of JSON, where a file was asked for.
  void note_decision(const std::map<Rank, core::RankLook>& looks, const core::Seen& seen, const core::Ledger& ledger,
                     const core::Reports& reports, const std::vector<core::Action>& actions) const;

  Node& home(Rank rank) { return *homes.at(rank); }
  RankPage& page(Rank rank) { return home(rank).page(rank); }
  const RankPage& page(Rank rank) const { return directory(rank).page; }
  RankDirectory& directory(Rank rank) { return home(rank).directories.at(rank); }
  const RankDirectory& directory(Rank rank) const { return homes.at(rank)->directories.at(rank); }
  core::Settings settings() const {
    return {.nodes = habits.nodes, .start = habits.start, .interval = habits.interval};
  }
  // The rename that a publisher asked for is done: by path, whatever stands there now.
  void rename_on_case(const Rename& rename);
  // One that hung until now, if there is any.
  void finish_late_rename();
  void remove_from_case(const Name& name);
  // A write failed. One to a file that is written once more says nothing of the state.
  void note_cut(Rank rank, int output) {
    if (!written_late.contains({rank, output})) cut.insert({rank, output});
  }
  // The newest state of which the case has the record of all ranks.
  std::optional<StateId> best_on_case() const;

  struct Scheduled {
    std::unique_ptr<Actor> actor;
    double pace;
  };
  struct Letter {
    Node* to;
    int from;
    core::Report report;
  };

  Random& random;
  Case& the_case;
  int number;
  Ticks now = 0;
  std::int64_t stamp;
  Habits habits;
  std::vector<Output> plan;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Rename> late;  // renames that hang in the kernel of an agent that died
  std::vector<Letter> mail;

  // Of the program.
  std::vector<int> at;                     // of each rank: the output that it has written last
  std::vector<std::map<int, int>> behind;  // of each rank: files of an output that its thread has still to write
  struct Queued {
    Rank rank;
    int output;
    std::string name;
  };
  std::vector<std::vector<Queued>> queue;
  std::set<std::pair<Rank, std::string>> being_removed;       // by a child
  std::multiset<std::pair<Rank, std::string>> being_written;  // by a child

  // The record of what really happened.
  std::map<std::tuple<Rank, std::string, std::string>, std::set<Bytes>>
      closed;  // all that a file held when it was closed
  std::map<std::pair<Rank, LineId>, int> output_of;
  std::map<std::pair<Rank, int>, LineId> line_of;
  std::map<StateId, int> output_of_state;
  std::map<std::pair<Rank, int>, std::map<std::string, Bytes>> truth;
  std::map<std::pair<Rank, int>, int> pending;
  std::map<std::pair<Rank, std::string>, Directory> direct;  // what the program has, as a direct run would
  std::map<std::pair<Rank, LineId>, std::map<std::string, LookedFile>> looked_at;  // what the last look at a line saw
  std::set<std::pair<Rank, int>> begun;  // outputs that are no late files of an older one
  std::set<std::pair<Rank, int>> cut, tampered;
  std::set<std::pair<Rank, int>> written_late;  // a file of these is being written once more
  int times_written_late = 0;
  std::set<std::pair<Rank, int>> freed;  // what was purged of it is gone; the rest may still stand in the tree
  std::vector<StateId> told_safe;
  bool has_ended = false;
  bool dying = false, child_dies = false;  // what is open is closed by the kernel now; a child dies alone
  Names written, needed;
  int overdue = 0;

  std::vector<Scheduled> actors;  // last: what they hold open is noted when they go

 private:
  void draw_habits(const Run* like);
  void draw_long_run();
  void make_plan(const std::string& first);
  void make_output_of_long_run(Output& output);
  void make_output(Output& output, const Names& near, const Names& used, bool topology);
  void stage_in(const std::string& first);
  void fault();

  std::map<Rank, Node*> homes;
};

inline bool telling = false;                  // whether `tell` prints
inline std::ostream* decisions_to = nullptr;  // where `note_decision` writes

std::unique_ptr<Actor> make_rank(Run& run, Rank rank, std::vector<Rank> writes_for);
std::unique_ptr<Actor> make_thread(Run& run, Rank rank);
std::unique_ptr<Actor> make_child(Run& run, std::vector<Rank> ranks, std::string time);
std::unique_ptr<Actor> make_agent(Run& run, Node& node);
// `drain --resume` where `nodes` can be reached. `found` is set when the actor has ended.
std::unique_ptr<Actor> make_resume(Run& run, std::vector<Node*> nodes, std::optional<StateId>& found);

// Gives a time's name on the case to what was carried beside it.
std::vector<std::function<void()>> switch_steps(Run& run, Rank rank, const LineId& line);

}  // namespace forebay::simulator
