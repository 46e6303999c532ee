#include "run.h"

#include <algorithm>
#include <iostream>

namespace forebay::simulator {

Run::Run(Random& drawn, Case& shared, int run_number, const std::string& first, const Run* like)
    : random(drawn), the_case(shared), number(run_number), stamp(run_number * 1'000'000) {
  draw_habits(like);
  make_plan(first);
  for (const Output& output : plan) written.insert(output.names.begin(), output.names.end());
  if (habits.start) std::ranges::set_intersection(*habits.start, written, std::inserter(needed, needed.end()));
  at.assign(static_cast<std::size_t>(habits.ranks), -1);
  behind.resize(at.size());
  queue.resize(at.size());
  stage_in(first);
  const bool collated = habits.threads || random.chance(.15);
  for (const auto& node : nodes) {
    for (const Rank rank : node->ranks) node->page(rank).words.collated = collated;
    const std::vector<Rank> writers = habits.master_writes_for_all ? std::vector{node->ranks.front()} : node->ranks;
    for (const Rank rank : writers) {
      add(make_rank(*this, rank, habits.master_writes_for_all ? node->ranks : std::vector{rank}));
      if (habits.threads) add(make_thread(*this, rank));
    }
    start_agent(*node);
  }
}

void Run::draw_habits(const Run* like) {
  Habits& h = habits;
  h.nodes = like && random.chance(.5) ? like->habits.nodes : random.pick({1, 1, 1, 2, 2, 3});
  h.ranks = like ? like->habits.ranks : std::max(h.nodes, random.pick({1, 2, 2, 3, 4}));
  h.nodes = std::min(h.nodes, h.ranks);
  const int capacity = random.chance(.1) ? random.pick({12, 20, 30}) * h.ranks : 0;
  for (int number_of_node = 0; number_of_node < h.nodes; ++number_of_node) {
    auto node = std::make_unique<Node>();
    node->number = number_of_node;
    for (Rank rank = 0; rank < h.ranks; ++rank)
      if (rank * h.nodes / h.ranks == number_of_node) {
        node->ranks.push_back(rank);
        node->directories[rank];
        homes[rank] = node.get();
      }
    node->capacity = capacity;
    node->ledger.node = number_of_node;
    node->ledger.window = static_cast<std::uint64_t>(random.pick({1, 1, 2, 4}));
    node->ledger.carried_at = -h.interval;
    nodes.push_back(std::move(node));
  }
  h.faults = random.chance(.7);
  h.threads = random.chance(.4);
  h.has_closing_lines = h.threads || random.chance(.7);
  if (h.threads) {
    std::vector<std::string> names(state_names.begin(), state_names.end());
    random.shuffle(names);
    names.resize(static_cast<std::size_t>(random.pick({1, 2, 4})));
    h.by_thread = Names(names.begin(), names.end());
  }
  h.most_behind = h.nodes == 1 || random.chance(.2) ? random.pick({2, 2, 4, 6}) : 2;
  h.master_writes_for_all = random.chance(.15);
  h.agent_pause = random.pick({4, 12, 30});
  h.most_ahead = h.nodes > 1 ? 1 : random.pick({1, 1, 2, 8});
  if (random.chance(.2)) h.tick = random.pick({.01, .01, .001});
  h.kept_by_program = random.pick({0, 1, 1, 2, 3});
  h.purge = random.pick({Habits::Purge::rename, Habits::Purge::rename, Habits::Purge::files, Habits::Purge::child});
  h.makes_state_files = random.chance(.85);
  Names names{"U", "omega", "p"};  // omega is never written
  if (random.chance(.1)) names.insert("vort");
  if (random.chance(.5)) names.insert("phi");
  if (random.chance(.85)) h.start = names;
  h.writes_again = number == 1 && random.chance(.35);
  if (h.writes_again && h.threads && h.nodes == 1)
    h.most_behind = 6;  // a time is begun again while a thread still writes it
  // That a forked writer died alone can only be seen where files have a closing line: given up elsewhere.
  h.forks = h.has_closing_lines && !h.threads && !h.writes_again && random.chance(.3);
  if (number == 1 && h.nodes == 3 && random.chance(.03)) draw_long_run();
}

// Nothing fails in a long run.
void Run::draw_long_run() {
  Habits& h = habits;
  h.is_long = true;
  h.every_second_is_poor = random.chance(.5);
  h.faults = h.threads = h.writes_again = h.forks = h.master_writes_for_all = false;
  h.by_thread.clear();
  h.makes_state_files = true;
  h.kept_by_program = 1;
  h.purge = Habits::Purge::rename;
  h.agent_pause = 12;
  h.start = Names{"U", "p"};
  h.tick = .25;
  h.interval = 500;
  for (const auto& node : nodes) node->capacity = 0;
}

void Run::make_plan(const std::string& first) {
  const bool topology = !habits.writes_again && random.chance(.35);
  const bool is_short = random.chance(habits.most_behind < 4 ? .85 : .3);
  const int count = habits.is_long ? 100 : is_short ? random.between(3, 10) : random.between(10, 24);
  Names near{first}, used{first};
  int time = std::stoi(first);
  for (int index = 0; index < count; ++index) {
    Output output;
    output.index = index;
    output.time = std::to_string(time + 1);
    output.full = random.chance(.65);
    if (habits.is_long)
      make_output_of_long_run(output);
    else
      make_output(output, near, used, topology);
    used.insert(output.time);
    time = std::stoi(output.time);
    if (!output.only_on) near.clear();
    near.insert(output.time);
    plan.push_back(std::move(output));
  }
}

void Run::make_output_of_long_run(Output& output) {
  output.full = !habits.every_second_is_poor || output.index % 2 == 0;
  output.names = output.full ? std::vector<std::string>{"U", "p", mark, "phi"} : std::vector<std::string>{"U", mark};
}

void Run::make_output(Output& output, const Names& near, const Names& used, bool topology) {
  const bool states = habits.makes_state_files;
  if (habits.writes_again) {
    output.time = std::to_string(random.pick({0, 0, 1, 1, 2, 3}));
    if (near.contains(output.time) && !(output.full && states && !habits.by_thread.contains(mark)))
      for (int other = 1; near.contains(output.time); ++other) output.time = std::to_string(other);
  }
  if (output.full) {
    output.names = states ? std::vector<std::string>{"U", "p", mark, "phi"} : std::vector<std::string>{"U", "p", "phi"};
    random.shuffle(output.names);
    if (random.chance(.3)) output.names.push_back("vort");
    if (states && (near.contains(output.time) ||
                   used.contains(output.time))) {  // again: known by uniform/time, which comes first
      std::erase(output.names, mark);
      output.names.insert(output.names.begin(), mark);
    }
    if (random.chance(.25)) output.cloud_on = random.below(habits.ranks);
    output.has_mesh = topology && random.chance(.35);
    output.has_late_file = random.chance(.2);
    if (habits.forks && random.chance(.5)) output.by_fork = random.pick({"U", "p", "phi"});
    return;
  }
  // What function objects write; the last is OpenFOAM's writeObjects.
  const std::vector<std::vector<std::string>> poor{{"vort"}, {properties}, {"U"}, {"U", mark}};
  output.names = poor[static_cast<std::size_t>(random.below(states ? 4 : 3))];
  const bool marks = std::ranges::count(output.names, mark) > 0;
  if (states && used.contains(output.time))
    output.names = marks ? std::vector<std::string>{mark, "U"} : std::vector<std::string>{"vort"};
  if (states && !marks && random.chance(.3)) output.only_on = random.below(habits.ranks);
}

void Run::stage_in(const std::string& first) {
  const Names names = habits.start.value_or(Names{"U", "omega", "p"});
  for (Rank rank = 0; rank < habits.ranks; ++rank) {
    if (number == 1 && rank == 0) the_case.can_exchange = random.chance(.7);
    if (number == 1) {
      CaseDirectory& start = the_case.directories[{rank, "0"}];
      start = {.visit = {0, 0}, .files = {}};
      for (const std::string& name : names) start.files[name] = {++stamp};
    }
    auto tree = std::make_shared<Directory>();
    Directory& mine = direct[{rank, first}];
    for (const auto& [name, bytes] : the_case.directories.at({rank, first}).files) {
      const auto file = std::make_shared<File>(File{.bytes = bytes, .modified = -1});
      (*tree)[name] = mine[name] = file;
      closed[{rank, first, name}] = {bytes};
    }
    directory(rank).tree[first] = std::move(tree);
  }
}

void Run::add(std::unique_ptr<Actor> actor) {
  const bool is_agent = actor->kind() == Actor::Kind::agent;
  const double pace = random.pick({1., 1., 1., .5, .15});
  actors.push_back({std::move(actor), !habits.is_long ? pace : is_agent ? .5 : 1});
}

void Run::tell(const std::string& what) const {
  if (telling) std::cout << now << ' ' << what << '\n';
}

void Run::start_agent(Node& node) {
  ++node.agents;
  node.has_agent = true;
  the_case.owner = std::max(the_case.owner, number);
  if (!wrong("old_publisher_not_fenced")) {  // S7: it removes the temporary directories of those before it
    for (int agent = 1; agent < node.agents; ++agent) the_case.fenced.insert({number, node.number, agent});
    for (int run = 1; run < number; ++run)
      for (int other = 0; other < 3; ++other)
        for (int agent = 0; agent < 9; ++agent) the_case.fenced.insert({run, other, agent});
  }
  if (wrong("lost_events_believed") && node.events_lost)
    for (const auto& [key, found] : the_case.directories)
      if (node.directories.contains(key.first) && !node.directories.at(key.first).tree.contains(key.second))
        for (const auto& [name, bytes] : found.files) node.deleted.insert({key.first, key.second, name});
  add(make_agent(*this, node));
}

void Run::kill_agent(Node& node) {
  end_actors([&](const Actor& each) { return each.kind() == Actor::Kind::agent && each.owner() == node.number; });
  if (node.in_flight && random.chance(.5)) late.push_back(*node.in_flight);
  node.in_flight.reset();
  node.has_agent = false;
  while (!node.taken.empty()) node.release(node.taken.begin()->first);  // its descriptors die with it
}

void Run::step() {
  Scheduled& next = actors[static_cast<std::size_t>(random.below(static_cast<int>(actors.size())))];
  if (random.chance(habits.tick)) ++now;
  if (!mail.empty() && random.chance(.3)) {  // letters come late, in another order, or not at all
    const auto at_random = mail.begin() + random.below(static_cast<int>(mail.size()));
    const Letter letter = std::move(*at_random);
    mail.erase(at_random);
    core::Report& had = letter.to->heard[letter.from];
    had.carried.insert(letter.report.carried.begin(), letter.report.carried.end());
    had.drained = had.drained || letter.report.drained;
  }
  if (next.pace < 1 && !random.chance(next.pace)) return;
  Actor* const actor = next.actor.get();  // a step may add actors
  if (!actor->step()) end_actors([&](const Actor& each) { return &each == actor; });
}

void Run::fault() {
  const double x = random.draw();
  Node& node = *nodes[static_cast<std::size_t>(random.below(habits.nodes))];
  if (x < .15 || (x < .3 && node.in_flight)) {
    if (node.has_agent && node.agents <= 3) {
      tell("the agent of node " + std::to_string(node.number) + " dies");
      kill_agent(node);
    }
  } else if (x < .5) {
    for (const auto& each : nodes)
      if (!each->has_agent && !each->done) start_agent(*each);
  } else if (x < .6) {
    std::vector<const Actor*> children;
    for (const Scheduled& each : actors)
      if (each.actor->kind() == Actor::Kind::child) children.push_back(each.actor.get());
    if (children.empty()) return;
    const Actor* const child = children[static_cast<std::size_t>(random.below(static_cast<int>(children.size())))];
    dying = child_dies = true;
    end_actors([&](const Actor& each) { return &each == child; });
    dying = child_dies = false;
    being_removed.clear();
  } else if (x < .63 && number == 1 && random.chance(.2)) {  // a rank dies; its launcher is slow to kill the others
    const Rank rank = node.ranks[static_cast<std::size_t>(random.below(static_cast<int>(node.ranks.size())))];
    const auto is_of_rank = [&](const Actor& each) {
      return (each.kind() == Actor::Kind::rank || each.kind() == Actor::Kind::thread) && each.owner() == rank;
    };
    if (!node.dead.empty() ||
        std::ranges::none_of(actors, [&](const Scheduled& each) { return is_of_rank(*each.actor); }))
      return;
    tell("rank " + std::to_string(rank) + " dies");
    dying = true;
    end_actors(is_of_rank);
    dying = false;
    node.dead = habits.master_writes_for_all ? std::set(node.ranks.begin(), node.ranks.end()) : std::set{rank};
  } else if (x < .66 && !the_case.directories.empty()) {  // somebody's file
    auto found = the_case.directories.begin();
    std::advance(found, random.below(static_cast<int>(the_case.directories.size())));
    found->second.files["notes"] = {};
  } else {
    finish_late_rename();
  }
}

void Run::go(int limit) {
  for (int i = 0; i < limit; ++i) {
    if (i % 16 == 0 && std::ranges::all_of(nodes, [](const auto& each) { return each->done; })) {
      has_ended = true;
      return;
    }
    if (!actors.empty()) step();
    if (habits.faults && random.chance(.02)) fault();
  }
}

void Run::rename_on_case(const Rename& rename) {
  if (the_case.fenced.contains({number, rename.epoch.first, rename.epoch.second})) return;
  const auto known = closed.find({rename.rank, rename.time, rename.name});
  if (known == closed.end() || !known->second.contains(rename.bytes))
    throw Broken("f: " + rename.time + "/" + rename.name + " of rank " + std::to_string(rename.rank) +
                 " was never closed so");
  if (rename.beside) {
    const auto found = the_case.aside.find({rename.rank, rename.time, rename.visit});
    if (found != the_case.aside.end()) found->second[rename.name] = rename.bytes;
  } else {
    const auto found = the_case.directories.find({rename.rank, rename.time});
    if (found == the_case.directories.end()) return;
    if (found->second.visit != rename.visit)
      throw Broken("f: " + rename.time + "/" + rename.name + " of rank " + std::to_string(rename.rank) +
                   " gets bytes of another visit");
    found->second.files[rename.name] = rename.bytes;
  }
}

void Run::finish_late_rename() {
  if (late.empty()) return;
  const Rename rename = late.back();
  late.pop_back();
  rename_on_case(rename);
}

void Run::remove_from_case(const Name& name) {
  const std::string which = name.time + "/" + name.name + " of rank " + std::to_string(name.rank);
  if (name.name == "notes") throw Broken("d: a file of somebody else is removed from the case");
  const auto has = direct.find({name.rank, name.time});
  if (has != direct.end() && has->second.contains(name.name))
    throw Broken("d: " + which + " is removed from the case, the program has it");
  const auto found = the_case.directories.find({name.rank, name.time});
  for (auto& [key, record] : the_case.records) {  // the record goes first
    const auto part = record.find(name.rank);
    if (part == record.end()) continue;
    const auto path = part->second.paths.find({name.time, name.name});
    if (path != part->second.paths.end() && path->second == found->second.visit) record.erase(part);
  }
  found->second.files.erase(name.name);
  if (found->second.files.empty()) the_case.directories.erase(found);
}

std::optional<StateId> Run::best_on_case() const {
  for (auto each = the_case.records.rbegin(); each != the_case.records.rend(); ++each)
    if (each->first.first == number && static_cast<int>(each->second.size()) == habits.ranks) return each->first.second;
  return std::nullopt;
}

}  // namespace forebay::simulator
