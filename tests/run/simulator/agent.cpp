// The agent of a node: it looks (S4), asks the core, and does what it says: frees, takes, carries, settles (S3, S5 to
// S7). A resume does the same once, without a program.
#include <algorithm>

#include "judge.h"
#include "run.h"

namespace forebay::simulator {
namespace {

using Do = core::Action::Kind;

core::FileFacts facts_of(const File& file) {
  return {.open = file.writers > 0, .torn = file.torn, .modified = file.modified};
}

// The files of a line: those of the tree, if it still is the newest of its time, and those in kept/.
Directory files_of(const RankDirectory& of, const LineId& line) {
  Directory found;
  if (of.page.is_newest(line))
    if (const auto tree = of.tree.find(line.time); tree != of.tree.end()) found = *tree->second;
  if (const auto kept = of.kept.find(line); kept != of.kept.end())
    for (const auto& [name, file] : *kept->second) found.try_emplace(name, file);
  return found;
}

FilePointer mesh_of(const RankDirectory& of, const LineId& line) {
  const Directory files = files_of(of, line);
  if (!files.contains(mesh_file)) throw Broken("c: the mesh of " + line.time + " is gone");
  return files.at(mesh_file);
}

// What stands under the name, in the tree and in kept/, whichever line it is of.
std::vector<FilePointer> files_called(const RankDirectory& of, const LineId& line, const std::string& name) {
  std::vector<FilePointer> found;
  const auto add = [&](const auto& directories, const auto& key) {
    const auto directory = directories.find(key);
    if (directory == directories.end()) return;
    if (const auto file = directory->second->find(name); file != directory->second->end())
      found.push_back(file->second);
  };
  add(of.tree, line.time);
  add(of.kept, line);
  return found;
}

Names own_names(const core::Line& line, const Taken& part) {
  Names own;
  for (const auto& [path, each] : part.files)
    if (path.first == part.line.time && each.modified >= line.begun_at) own.insert(path.second);
  return own;
}

std::string text_of(const core::RankLook::OfLine& of) {
  std::string text = "  " + of.after.id.time + " (line " + std::to_string(of.after.id.sequence) + ", state " +
                     std::to_string(of.after.state) + ", begun at " + std::to_string(of.after.begun_at) + ")";
  if (of.after.cut) text += " cut";
  if (core::is_changed(of)) text += " changed";
  if (of.kept) text += " kept";
  for (const auto& [name, file] : of.files)
    text +=
        " " + name + ":" + std::to_string(file.modified) + (file.open ? "(open)" : "") + (file.torn ? "(torn)" : "");
  return text;
}

// What an agent and a resume have in common.
class Carrier : public Actor {
 public:
  Carrier(Run& run, Kind kind, int owner) : Actor(kind, owner), run_(run) {}

 protected:
  // S4: one look at one rank directory: the page, the tree, kept/, the page again.
  void look_at(Node& node, Rank rank, core::RankLook& found) {
    const RankDirectory& mine = node.directories.at(rank);
    const auto tree = std::make_shared<std::map<std::string, Directory>>();
    const auto read_tree = [&mine, tree] {
      for (const auto& [time, directory] : mine.tree) (*tree)[time] = *directory;
    };
    then_at_once([&mine, &found] {
      found = {.before = mine.page.words, .after = {}, .lines = {}};
      for (const auto& [id, line] : mine.page.lines)
        found.lines.push_back({.before = line, .after = {}, .was_newest = mine.page.is_newest(id), .files = {}});
      std::ranges::sort(found.lines, {}, [](const auto& each) { return each.before.id.sequence; });
    });
    perhaps_pause();
    if (!wrong("kept_looked_at_first")) then_at_once(read_tree);
    perhaps_pause();
    then_at_once([this, &mine, rank, tree, &found] {
      for (core::RankLook::OfLine& of : found.lines) {
        const auto kept = mine.kept.find(of.before.id);
        of.kept = kept != mine.kept.end();
        auto& files = run_.looked_at[{rank, of.before.id}];
        files.clear();
        if (of.kept) add_files(*kept->second, of, files);
      }
    });
    perhaps_pause();
    then_at_once([this, &mine, rank, tree, read_tree, &found] {
      if (wrong("kept_looked_at_first")) read_tree();
      if (wrong("left_read_last")) found.before = mine.page.words;
      for (core::RankLook::OfLine& of : found.lines)
        if (of.was_newest) add_files((*tree)[of.before.id.time], of, run_.looked_at.at({rank, of.before.id}));
    });
    perhaps_pause();
    then_at_once([this, &node, rank, &mine, &found] {
      found.after = mine.page.words;
      for (core::RankLook::OfLine& of : found.lines) {
        of.after = mine.page.lines.at(of.before.id);
        of.is_newest = mine.page.is_newest(of.before.id);
        if (wrong("page_not_read_again")) {
          of.before = of.after;
          of.is_newest = of.was_newest;
        }
      }
      if (core::must_look_again(found) && !wrong("looked_once")) look_at(node, rank, found);
    });
  }

  // S4: opens every file that the look named, with a lease; then sees that it still is this line.
  void take(Node& node, const StateId& state, const std::map<Rank, core::Time>& parts,
            const std::shared_ptr<bool>& good) {
    *good = !parts.empty();
    node.taken[state];
    for (const auto& [rank, part] : parts) {
      then_at_once([this, &node, state, rank = rank, part = part, good] {
        if (!*good) return;
        Taken& got = node.taken.at(state)[rank];
        got = {.line = part.line, .files = {}};
        take_names(node, state, rank, part.line, part.names, good);
        if (part.mesh && *part.mesh != part.line && !wrong("mesh_not_taken"))
          take_names(node, state, rank, *part.mesh, {mesh_file}, good);
        perhaps_pause();
        wait_while([this, &node, state, rank, good] {  // what changes from now on has another tick
          return *good && !wrong("tick_ignored") &&
                 std::ranges::any_of(node.taken.at(state).at(rank).files,
                                     [this](const auto& each) { return each.second.modified >= run_.now; });
        });
        then_at_once([&node, rank, line = part.line, good] {
          const RankDirectory& mine = node.directories.at(rank);
          const bool is_there = mine.page.is_newest(line) || mine.kept.contains(line) || wrong("not_looked_again");
          if (!is_there) *good = false;
        });
      });
    }
    then_at_once([&node, state, good] {
      if (!*good) node.release(state);
    });
  }

  // Copies to a temporary name, verifies, renames. It may fail; it may hang, and be renamed later.
  void carry(Node& node, const Epoch& epoch, Rank rank, std::optional<StateId> state, const Taken& part,
             const std::shared_ptr<bool>& good) {
    const core::Line line = node.page(rank).lines.at(part.line);
    const auto paths = std::make_shared<std::map<PathInRank, Visit>>();
    for (const auto& [path, each] : part.files) {
      const Visit visit{run_.number,
                        path.first == part.line.time || !line.mesh ? part.line.sequence : line.mesh->sequence};
      (*paths)[path] = visit;
      then_at_once([this, &node, epoch, rank, path = path, visit, each = each, good] {
        if (*good) carry_file(node, epoch, rank, path, visit, each, good);
      });
    }
    then([this, rank, state, part, line, paths, good] {
      if (!*good) return Next::go_on;
      if (!state) return Next::pause;
      Record record{.line = part.line, .paths = *paths, .own = own_names(line, part)};
      if (kind() == Kind::resume) judge_record(run_, rank, *state, record);
      run_.the_case.records[{run_.number, *state}][rank] = std::move(record);
      return Next::pause;
    });
  }

  void switch_to(Rank rank, const LineId& line) {
    for (const auto& each : switch_steps(run_, rank, line)) then_step(each);
  }

  void tell_looks(const std::map<Rank, core::RankLook>& looks) const {
    if (!telling) return;
    for (const auto& [rank, look] : looks) {
      run_.tell("a look at rank " + std::to_string(rank));
      for (const auto& of : look.lines) run_.tell(text_of(of));
    }
  }

  Run& run_;

 private:
  void perhaps_pause() {
    then([this] {
      if (run_.random.chance(.02)) pauses(run_.random.below(60));  // a large directory
      return run_.random.chance(.3) ? Next::pause : Next::go_on;
    });
  }

  // A later call wins: of a name that stands in the tree and in kept/ the tree's file is meant.
  static void add_files(const Directory& directory, core::RankLook::OfLine& of,
                        std::map<std::string, LookedFile>& files) {
    for (const auto& [name, file] : directory) {
      of.files[name] = facts_of(*file);
      files[name] = {{file, file->modified}, file->bytes};
    }
  }

  void take_names(Node& node, const StateId& state, Rank rank, const LineId& line, const Names& names,
                  const std::shared_ptr<bool>& good) {
    pauses(1);
    perhaps_pause();
    for (const std::string& name : names)
      then([this, &node, state, rank, line, name, good] {
        if (!*good) return Next::go_on;
        const auto& looked_at = run_.looked_at.at({rank, line});
        const auto judged = looked_at.find(name);
        for (const FilePointer& file : files_called(node.directories.at(rank), line, name)) {
          const bool is_as_judged = judged != looked_at.end() && judged->second.file == TakenFile{file, file->modified};
          if (!is_as_judged && !wrong("not_compared")) continue;
          node.taken.at(state).at(rank).files[{line.time, name}] = {file, file->modified};
          ++file->holds;
          return Next::pause;
        }
        *good = false;
        return Next::go_on;
      });
  }

  void carry_file(Node& node, const Epoch& epoch, Rank rank, const PathInRank& path, const Visit& visit,
                  const TakenFile& each, const std::shared_ptr<bool>& good) {
    Case& on = run_.the_case;
    const auto& [time, name] = path;
    node.changed = false;
    // S7: another visit has the name.
    bool beside = on.aside.contains({rank, time, visit}) ||
                  on.directories.try_emplace({rank, time}, CaseDirectory{visit, {}}).first->second.visit != visit;
    if (wrong("last_safe_overwritten")) {
      beside = false;
      on.directories[{rank, time}].visit = visit;
    }
    CaseFiles& have = beside ? on.aside[{rank, time, visit}] : on.directories[{rank, time}].files;
    const auto known = node.carried.find({rank, path, visit});
    if (have.contains(name) && known != node.carried.end() && known->second == each && each.file->writers == 0) return;
    const auto copy = std::make_shared<Bytes>();
    copy_parts(each.file, copy);
    then([this, &node, epoch, rank, path, visit, beside, each, copy, good] {
      if (run_.habits.faults && run_.random.chance(.04)) {  // EIO of the shared file system
        *good = false;
        return Next::go_on;
      }
      node.changed = (each.file->writers > 0 || each.file->modified != each.modified) && !wrong("copy_not_verified");
      if (node.changed) {
        *good = false;
        return Next::go_on;
      }
      node.in_flight = Rename{epoch, rank, path.first, visit, beside, path.second, *copy};
      if (run_.random.chance(.05)) pauses(run_.random.below(60));
      then_step([this, &node, rank, path, visit, each] {
        const Rename rename = *node.in_flight;
        node.in_flight.reset();
        run_.rename_on_case(rename);
        node.carried[{rank, path, visit}] = each;
      });
      return Next::pause;
    });
  }

  void copy_parts(const FilePointer& file, const std::shared_ptr<Bytes>& copy) {
    then([this, file, copy] {
      if (copy->size() >= file->bytes.size()) return Next::go_on;
      copy->push_back(file->bytes[copy->size()]);
      copy_parts(file, copy);
      return Next::pause;
    });
  }
};

core::Times times_of(const std::map<Rank, core::RankLook>& looks) {
  core::Times times;
  for (const auto& [rank, look] : looks) times[rank] = core::times_of(look);
  return times;
}

class Agent : public Carrier {
 public:
  Agent(Run& run, Node& node)
      : Carrier(run, Actor::Kind::agent, node.number), node_(node), epoch_{node.number, node.agents} {
    then_at_once([this] { turn(); });
    begin();
  }

 private:
  void turn() {
    if (node_.done) return;
    pauses(static_cast<int>(run_.random.draw() * run_.habits.agent_pause));
    then_at_once([this] {
      hear();
      looks_.clear();
      ended_ = std::ranges::all_of(node_.ranks, [this](Rank each) { return node_.page(each).words.ended; });
      had_states_ = std::ranges::any_of(node_.ranks, [this](Rank each) { return node_.page(each).words.states != 0; });
      if (node_.number == 0 && !ended_) judge_fresh(run_, node_.ledger);
      const bool knows = run_.habits.start && std::ranges::includes(node_.ledger.written, run_.needed);
      const auto promised = promised_output(run_);
      const int late = run_.times_written_late;
      for (const Rank rank : node_.ranks) {
        look_at(node_, rank, looks_[rank]);
        pauses(1);
      }
      then_at_once([this, knows, promised, late] {
        act(knows || (promised && promised_output(run_) == promised && late == run_.times_written_late));
      });
    });
  }

  // S7: a name in kept/ was purged, one that stands again was not; events tell the rest.
  void hear() {
    node_.deleted.insert(node_.events.begin(), node_.events.end());
    node_.events.clear();
    for (const auto& [rank, mine] : node_.directories) {
      if (wrong("purges_not_told")) break;
      for (const auto& [line, directory] : mine.kept)
        for (const auto& [name, file] : *directory) node_.deleted.insert({rank, line.time, name});
    }
    std::erase_if(node_.deleted, [this](const Name& each) { return stands(each); });
  }

  bool stands(const Name& name) const {
    const RankDirectory& mine = node_.directories.at(name.rank);
    const auto found = mine.tree.find(name.time);
    return found != mine.tree.end() && found->second->contains(name.name);
  }

  void act(bool known) {
    tell_looks(looks_);
    states_ = core::States(times_of(looks_), node_.ledger.written, run_.settings());
    judge_restartable(run_, states_, known, had_states_);
    core::Seen seen{.states = states_, .now = run_.now, .ended = ended_, .held = {}};
    seen.threads = std::ranges::any_of(looks_, [](const auto& each) { return core::has_threads(each.second); });
    for (const auto& [state, parts] : node_.taken) seen.held.insert(state);
    core::Reports reports = node_.heard;
    if (wrong("safe_by_own_parts"))
      for (int other = 0; other < run_.habits.nodes; ++other)
        if (other != node_.number) reports[other].carried = node_.ledger.carried;
    if (wrong("end_by_own_drain"))
      for (int other = 0; other < run_.habits.nodes; ++other)
        if (other != node_.number) reports[other].drained = node_.ledger.drained;
    actions_ = core::decide(seen, node_.ledger, reports, run_.settings());
    run_.note_decision(looks_, seen, node_.ledger, reports, actions_);
    for (const core::Action& action : actions_) do_action(action);
    then_at_once([this] {
      judge_kept(run_, states_, actions_);
      judge_carried(run_, node_);
      if (ended_ && !node_.ledger.drained) drain_tree();
    });
    then([this] {
      for (const auto& other : run_.nodes)
        if (other.get() != &node_ && run_.random.chance(.7))
          run_.mail.push_back({other.get(), node_.number, {node_.ledger.carried, node_.ledger.drained}});
      then_at_once([this] { turn(); });
      return Next::pause;
    });
  }

  void do_action(const core::Action& action) {
    then_at_once([this, action] {
      switch (action.kind) {
        case Do::free:
          free(action.rank, action.line);
          break;
        case Do::note_written:
          node_.ledger.written.insert(action.names.begin(), action.names.end());
          break;
        case Do::set_window:
          node_.ledger.window = action.window;
          node_.ledger.carried_at = run_.now;
          break;
        case Do::take:
          take_state(action.state);
          break;
        case Do::carry:
          carry_state(action.state);
          break;
        case Do::call_safe:
          node_.ledger.safe = action.state;
          judge_told_safe(run_, action.state);
          settle(action.state);
          break;
        case Do::end:
          end();
          break;
      }
    });
    pauses(1);
  }

  void free(Rank rank, const LineId& line) {
    RankDirectory& mine = node_.directories.at(rank);
    const auto kept = mine.kept.find(line);
    if (!wrong("purges_not_told")) node_.gone.insert({rank, line});
    if (kept == mine.kept.end()) return;
    run_.freed.insert({rank, run_.output_of.at({rank, line})});
    const DirectoryPointer directory = kept->second;
    mine.kept.erase(kept);  // a rename to free/, which others empty
    while (!directory->empty()) {
      const std::string name = directory->begin()->first;
      if (!wrong("purges_not_told")) node_.deleted.insert({rank, line.time, name});
      node_.unlink(*directory, name);
    }
  }

  void take_state(const StateId& state) {
    std::vector<StateId> others;
    for (const auto& [each, parts] : node_.taken)
      if (each != state) others.push_back(each);
    for (const StateId& each : others) node_.release(each);
    std::map<Rank, core::Time> parts;
    if (const auto found = states_.common.find(state); found != states_.common.end())
      for (const auto& [rank, time] : found->second) parts[rank] = *time;
    const auto good = std::make_shared<bool>();
    take(node_, state, parts, good);
    then_at_once([this, state, good] {
      if (*good) carry_state(state);
    });
  }

  void carry_state(const StateId& state) {
    const auto good = std::make_shared<bool>(true);
    for (const Rank rank : node_.ranks)
      then_at_once([this, rank, state, good] {
        if (*good) carry(node_, epoch_, rank, state, node_.taken.at(state).at(rank), good);
      });
    then_at_once([this, state, good] {
      if (*good) {
        node_.ledger.carried.insert(state);
        node_.ledger.carried_at = run_.now;
      } else if (node_.changed) {  // written to meanwhile
        node_.release(state);
      }
    });
  }

  // It is safe: names are switched to it; what it supersedes goes from the case, if the program purged that.
  void settle(const StateId& state) {
    for (const Rank rank : node_.ranks)
      then_at_once([this, rank, state] {
        const auto& record = run_.the_case.records[{run_.number, state}];
        if (const auto part = record.find(rank); part != record.end()) switch_to(rank, part->second.line);
      });
    then_at_once([this, state] {
      for (const auto& [key, record] : run_.the_case.records)
        if (key.first == run_.number && key.second < state)
          for (const Rank rank : node_.ranks)
            then([this, rank, state, old = key.second] {
              return settle_part(rank, state, old) ? Next::pause : Next::go_on;
            });
      then_at_once([this, state] {
        if (node_.taken.contains(state)) node_.release(state);
      });
    });
  }

  bool settle_part(Rank rank, const StateId& state, const StateId& old) {
    Case& on = run_.the_case;
    const auto of_old = on.records.find({run_.number, old}), of_new = on.records.find({run_.number, state});
    if (of_old == on.records.end() || of_new == on.records.end()) return false;
    const auto older = of_old->second.find(rank), newer = of_new->second.find(rank);
    if (older == of_old->second.end() || newer == of_new->second.end()) return false;
    const Record was = older->second, is = newer->second;
    const auto found = on.directories.find({rank, was.line.time});
    if (found == on.directories.end() || found->second.visit != Visit{run_.number, was.line.sequence}) return true;
    const bool has_time =
        std::ranges::any_of(is.paths, [&](const auto& each) { return each.first.first == was.line.time; });
    if (!has_purged(rank, was.line, found->second) || has_time) return true;
    Names old_names, new_names;
    for (const auto& [path, visit] : was.paths)
      if (path.first == was.line.time && path.second != cloud_file) old_names.insert(path.second);
    for (const auto& [path, visit] : is.paths)
      if (path.first == is.line.time && path.second != cloud_file) new_names.insert(path.second);
    if (!std::ranges::includes(new_names, old_names)) {
      if (wrong("settled_by_number")) throw Broken("d: a state is removed from the case for a poorer one");
      return true;
    }
    std::vector<Name> names;
    for (const auto& [name, bytes] : found->second.files)
      if (Name each{rank, was.line.time, name}; !stands(each) && was.paths.contains({was.line.time, name}))
        names.push_back(each);
    for (const Name& each : names) run_.remove_from_case(each);
    return true;
  }

  bool has_purged(Rank rank, const LineId& line, const CaseDirectory& on_case) const {
    const RankDirectory& mine = node_.directories.at(rank);
    if (wrong("absence_deletes")) return !mine.tree.contains(line.time);
    if (mine.page.is_newest(line) && (mine.kept.contains(line) || node_.gone.contains({rank, line}))) return true;
    return std::ranges::all_of(on_case.files, [&](const auto& each) {
      return node_.deleted.contains({rank, line.time, each.first});
    });
  }

  // The end: the walk carries what stands in the tree; what is restartable is recorded.
  void drain_tree() {
    const auto looks = std::make_shared<std::map<Rank, core::RankLook>>();
    for (const Rank rank : node_.ranks) look_at(node_, rank, (*looks)[rank]);
    then_at_once([this, looks] {
      const core::States states(times_of(*looks), node_.ledger.written, run_.settings());
      const auto good = std::make_shared<bool>(true);
      for (const Rank rank : node_.ranks)
        for (const auto& [time, directory] : node_.directories.at(rank).tree) {
          const auto newest = node_.page(rank).newest.find(time);
          if (newest == node_.page(rank).newest.end()) continue;  // as it was staged
          const LineId line{time, newest->second};
          const auto state = std::ranges::find_if(
              states.restartable, [&](const StateId& each) { return states.common.at(each).at(rank)->line == line; });
          std::optional<StateId> recorded;
          if (state != states.restartable.end() && !wrong("not_recorded_at_the_end")) recorded = *state;
          then_at_once([this, rank, line, recorded, good] {
            if (*good) carry(node_, epoch_, rank, recorded, all_files(rank, line, recorded.has_value()), good);
          });
        }
      then_at_once([this, good] { node_.ledger.drained = *good; });
    });
  }

  Taken all_files(Rank rank, const LineId& line, bool with_kept) const {
    const RankDirectory& mine = node_.directories.at(rank);
    Taken part{.line = line, .files = {}};
    const auto tree = mine.tree.find(line.time);
    for (const auto& [name, file] : files_of(mine, line))
      if (with_kept || (tree != mine.tree.end() && tree->second->contains(name)))
        part.files[{line.time, name}] = {file, file->modified};
    const auto mesh = mine.page.lines.at(line).mesh;
    if (with_kept && mesh && *mesh != line) {
      const FilePointer file = mesh_of(mine, *mesh);
      part.files[{mesh->time, mesh_file}] = {file, file->modified};
    }
    return part;
  }

  // All nodes have carried all: names are switched, then the program's deletions follow.
  void end() {
    hear();
    std::vector<std::pair<Rank, LineId>> beside;
    for (const auto& [key, files] : run_.the_case.aside) {
      const auto& [rank, time, visit] = key;
      if (!node_.directories.contains(rank) || visit.first != run_.number) continue;
      const RankDirectory& mine = node_.directories.at(rank);
      if (mine.tree.contains(time) && mine.page.is_newest({time, visit.second}))
        beside.push_back({rank, {time, visit.second}});
    }
    for (const auto& [rank, line] : beside) switch_to(rank, line);
    then_at_once([this] {
      for (const auto& [key, found] : run_.the_case.directories) {
        const auto& [rank, time] = key;
        if (!node_.directories.contains(rank)) continue;
        for (const auto& [name, bytes] : found.files)
          then([this, each = Name{rank, time, name}] {
            const auto on_case = run_.the_case.directories.find({each.rank, each.time});
            const bool is_there =
                on_case != run_.the_case.directories.end() && on_case->second.files.contains(each.name);
            if (!is_there || stands(each) || !(node_.deleted.contains(each) || wrong("absence_deletes")))
              return Next::go_on;
            run_.remove_from_case(each);
            return Next::pause;
          });
      }
      then_at_once([this] { node_.done = true; });
    });
  }

  Node& node_;
  Epoch epoch_;
  std::map<Rank, core::RankLook> looks_;
  core::States states_;
  bool ended_ = false, had_states_ = false;
  std::vector<core::Action> actions_;
};

class Resume : public Carrier {
 public:
  Resume(Run& run, std::vector<Node*> nodes, std::optional<StateId>& found)
      : Carrier(run, Actor::Kind::resume, 0), nodes_(std::move(nodes)), found_(found) {
    then_at_once([this] { start(); });
    begin();
  }

 private:
  void start() {
    found_.reset();
    if (run_.the_case.owner != run_.number && !wrong("old_pool_overwrites")) return;  // S7: another run owns the case
    for (Node* node : nodes_) ++node->agents;
    if (!wrong("old_publisher_not_fenced"))
      for (const auto& node : run_.nodes) {
        const bool here = std::ranges::count(nodes_, node.get()) > 0;
        for (int agent = 1; agent < (here ? node->agents : 9); ++agent)
          run_.the_case.fenced.insert({run_.number, node->number, agent});
      }
    for (Node* node : nodes_)
      for (const Rank rank : node->ranks) look_at(*node, rank, looks_[rank]);
    then_at_once([this] { choose(); });
  }

  // What the pools hold; what the records of the case say in place of what they lack.
  void choose() {
    for (Rank rank = 0; rank < run_.habits.ranks; ++rank) times_[rank] = core::times_of(looks_[rank]);
    tell_looks(looks_);
    const core::Times pool = times_;
    for (const auto& [key, record] : run_.the_case.records)
      if (key.first == run_.number)
        for (const auto& [rank, part] : record) add_recorded(rank, key.second, part);
    Names written;
    for (const Node* node : nodes_) written.insert(node->ledger.written.begin(), node->ledger.written.end());
    const core::States states(times_, written, run_.settings());
    if (states.restartable.empty()) {
      found_ = run_.best_on_case();
      return;
    }
    const StateId state = states.restartable.front();
    run_.tell("resume finds state " + std::to_string(state.number) + " at " + state.time);
    const core::Parts& parts = states.common.at(state);
    for (Node* node : nodes_)
      for (const Rank rank : node->ranks) {
        const core::Time& part = *parts.at(rank);
        const bool in_pool = std::ranges::any_of(pool.at(rank), [&](const core::Time& each) {
          return each.line == part.line && each.id == part.id && each.names == part.names && each.own == part.own;
        });
        if (in_pool && !recorded_.contains({rank, state})) carry_until_done(*node, rank, state, part.line);
      }
    then_at_once([this, state] {
      judge_on_case(run_, state);
      for (Rank rank = 0; rank < run_.habits.ranks; ++rank)
        then_at_once([this, rank, state] {
          switch_to(rank, run_.the_case.records.at({run_.number, state}).at(rank).line);
        });
      then_at_once([this, state] {
        judge_on_case(run_, state);
        judge_named(run_, state);
        run_.told_safe.push_back(state);
        found_ = state;
      });
    });
  }

  // A record goes before a poorer rest in the pool.
  void add_recorded(Rank rank, const StateId& state, const Record& part) {
    std::vector<core::Time>& mine = times_[rank];
    const bool in_pool = std::ranges::any_of(mine, [&](const core::Time& each) {
      return each.id == state && each.whole && each.mesh_is_whole &&
             (std::ranges::includes(each.own, part.own) || wrong("remains_replace_record"));
    });
    if (in_pool) return;
    std::erase_if(mine, [&](const core::Time& each) { return each.id == state; });
    core::Time time{.line = part.line,
                    .id = state,
                    .left = true,
                    .whole = true,
                    .names = {},
                    .own = part.own,
                    .mesh = {},
                    .mesh_is_whole = true,
                    .kept = false};
    for (const auto& [path, visit] : part.paths)
      if (path.first == part.line.time) time.names.insert(path.second);
    mine.push_back(std::move(time));
    recorded_.insert({rank, state});
  }

  void carry_until_done(Node& node, Rank rank, const StateId& state, const LineId& line) {
    then_at_once([this, &node, rank, state, line] {
      const RankDirectory& mine = node.directories.at(rank);
      Taken part{.line = line, .files = {}};
      for (const auto& [name, file] : files_of(mine, line)) part.files[{line.time, name}] = {file, file->modified};
      if (const auto mesh = mine.page.lines.at(line).mesh; mesh && *mesh != line) {
        const FilePointer file = mesh_of(mine, *mesh);
        part.files[{mesh->time, mesh_file}] = {file, file->modified};
      }
      const auto good = std::make_shared<bool>(true);
      carry(node, {node.number, node.agents}, rank, state, part, good);
      then_at_once([this, &node, rank, state, line, good] {
        if (*good) return;
        ++run_.now;
        carry_until_done(node, rank, state, line);
      });
    });
  }

  std::vector<Node*> nodes_;
  std::optional<StateId>& found_;
  std::map<Rank, core::RankLook> looks_;
  core::Times times_;
  std::set<std::pair<Rank, StateId>> recorded_;
};

}  // namespace

// RENAME_EXCHANGE, or two renames where there is none. The record of the old one goes first.
std::vector<std::function<void()>> switch_steps(Run& run, Rank rank, const LineId& line) {
  Case& on = run.the_case;
  const Visit visit{run.number, line.sequence};
  const auto had = on.directories.find({rank, line.time});
  const std::optional<Visit> old = had == on.directories.end() ? std::nullopt : std::optional(had->second.visit);
  if (!on.aside.contains({rank, line.time, visit})) return {};
  std::vector<std::function<void()>> steps;
  steps.emplace_back([&on, rank, line, old] {
    for (auto& [key, record] : on.records)
      if (const auto part = record.find(rank);
          old && key.first == old->first && part != record.end() && part->second.line == LineId{line.time, old->second})
        record.erase(part);
  });
  if (!on.can_exchange) steps.emplace_back([&on, rank, line] { on.directories.erase({rank, line.time}); });
  steps.emplace_back([&on, rank, line, visit] {
    if (auto files = on.aside.extract({rank, line.time, visit}))
      on.directories[{rank, line.time}] = {visit, std::move(files.mapped())};
  });
  return steps;
}

std::unique_ptr<Actor> make_agent(Run& run, Node& node) {
  return std::make_unique<Agent>(run, node);
}
std::unique_ptr<Actor> make_resume(Run& run, std::vector<Node*> nodes, std::optional<StateId>& found) {
  return std::make_unique<Resume>(run, std::move(nodes), found);
}

}  // namespace forebay::simulator
