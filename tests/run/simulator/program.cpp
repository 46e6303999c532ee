// The program: main processes of ranks, their writing threads, children that remove. What the library does stands here,
// too: it writes lines down (S1) and turns a purge into a rename (S2).
#include <algorithm>

#include "run.h"

namespace forebay::simulator {
namespace {

// A file that is open for writing. The kernel closes it for the dead, too.
class OpenFile {
 public:
  OpenFile(Run& run, Rank rank, const Output& output, std::string name, FilePointer file)
      : run_(run), rank_(rank), output_(output), name_(std::move(name)), file_(std::move(file)) {
    ++file_->writers;
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (!is_open_) return;
    --file_->writers;
    run_.written_late.erase({rank_, output_.index});
    if (run_.dying) note();  // a direct run leaves that, too
    if (run_.child_dies && !has_all_) run_.cut.insert({rank_, output_.index});
  }
  void has_all() { has_all_ = true; }
  void close() {
    is_open_ = false;
    --file_->writers;
    if (name_ == properties) run_.written_late.erase({rank_, output_.index});
    note();
  }
  File& file() { return *file_; }

 private:
  void note() {
    run_.closed[{rank_, output_.time, name_}].insert(file_->bytes);
    if (!has_all_ || (output_.has_late_file && name_ == properties)) return;
    run_.truth[{rank_, output_.index}][name_] = file_->bytes;
    --run_.pending[{rank_, output_.index}];
  }

  Run& run_;
  Rank rank_;
  const Output& output_;
  std::string name_;
  FilePointer file_;
  bool is_open_ = true, has_all_ = false;
};

// What writes to an open file and closes it.
class PartsWriter : public Actor {
 public:
  PartsWriter(Run& run, Kind kind, int owner) : Actor(kind, owner), run_(run) {}

 protected:
  void write_parts(Rank rank, const Output& output, const LineId& id, const std::shared_ptr<OpenFile>& opened) {
    const auto failed = std::make_shared<bool>(false);
    const int parts = run_.random.pick({1, 2, 2, 3});
    for (int part = 1; part <= parts; ++part)
      then_step([this, rank, &output, id, opened, failed, is_last = part == parts] {
        Node& node = run_.home(rank);
        File& file = opened->file();
        if (node.capacity != 0 && node.used >= node.capacity) {  // ENOSPC
          *failed = true;
          run_.note_cut(rank, output.index);
          node.page(rank).lines.at(id).cut = true;
        } else {
          ++node.used;
          file.bytes.push_back(++run_.stamp);
          file.modified = run_.now;
        }
        if (!is_last) return;
        file.torn = file.torn && *failed;
        opened->has_all();
      });
    then_step([opened] { opened->close(); });
  }

  Run& run_;
};

// A child that the program forked with a file open: it writes while the program goes on, and may die alone.
class ForkedWriter : public PartsWriter {
 public:
  ForkedWriter(Run& run, int owner, Rank rank, const Output& output, const LineId& id,
               const std::shared_ptr<OpenFile>& opened)
      : PartsWriter(run, Kind::child, owner), writes_{rank, output.time} {
    run_.being_written.insert(writes_);
    pauses(run_.random.below(120));
    write_parts(rank, output, id, opened);
    begin();
  }
  ~ForkedWriter() override { run_.being_written.erase(run_.being_written.find(writes_)); }

 private:
  std::pair<Rank, std::string> writes_;
};

class Writer : public PartsWriter {
 public:
  Writer(Run& run, Kind kind, int owner) : PartsWriter(run, kind, owner) {}

 protected:
  // Opens for writing, writes in parts, closes. The library knows the time and the thread, not the output.
  void write(Rank rank, const Output& output, const std::string& name, bool by_thread = false) {
    then([this, rank, &output, name, by_thread] {
      RankPage& page = run_.page(rank);
      LineId id{output.time, page.newest.at(output.time)};
      if (by_thread) {  // S1: forward only, to the first line of that time
        for (const auto& [each, line] : page.lines)
          if (each.time == output.time && each.sequence >= page.words.place)
            id.sequence = std::min(id.sequence, each.sequence);
        page.words.place = wrong("thread_placed_by_name") ? page.newest.at(output.time) : id.sequence;
      }
      open(rank, output, name, id);
      return Next::pause;
    });
  }

  void purge(Rank rank, const std::string& time) {
    then([this, rank, time] {
      RankDirectory& mine = run_.directory(rank);
      if (!mine.tree.contains(time) || !mine.page.newest.contains(time)) return Next::go_on;
      const LineId line{time, mine.page.newest.at(time)};
      run_.tell("rank " + std::to_string(rank) + " purges " + time);
      if (run_.habits.purge == Habits::Purge::rename && !mine.kept.contains(line)) {
        mine.kept[line] = mine.tree.extract(time).mapped();
        run_.direct.erase({rank, time});
        return Next::pause;
      }
      const DirectoryPointer directory = mine.tree.at(time);
      std::vector<std::string> names;
      for (const auto& [name, file] : *directory) names.push_back(name);
      run_.random.shuffle(names);
      for (const std::string& name : names) purge_file(rank, line, directory, name);
      then_step([this, rank, time, directory] {
        RankDirectory& here = run_.directory(rank);
        const auto found = here.tree.find(time);
        if (directory->empty() && found != here.tree.end() && found->second == directory) {
          here.tree.erase(found);
          run_.direct.erase({rank, time});
        }
      });
      return Next::go_on;
    });
  }

 private:
  void purge_file(Rank rank, const LineId& line, const DirectoryPointer& directory, const std::string& name) {
    const auto aside = std::make_shared<DirectoryPointer>();
    const auto make = [this, rank, line, aside] {
      DirectoryPointer& kept = run_.directory(rank).kept[line];
      if (!kept) kept = std::make_shared<Directory>();
      *aside = kept;
    };
    then_step(make);
    then([this, rank, line, directory, name, aside, make] {
      if (!directory->contains(name)) return Next::go_on;
      if (!wrong("freed_meanwhile")) make();  // what was moved so far may be freed: ENOENT, made again
      const FilePointer file = directory->extract(name).mapped();
      run_.direct[{rank, line.time}].erase(name);
      if (wrong("moved_in_two_steps")) pauses(1);
      then_step([this, rank, name, aside, file] {
        if ((*aside)->contains(name)) run_.home(rank).unlink(**aside, name);  // what comes later replaces
        (**aside)[name] = file;
      });
      return Next::go_on;
    });
  }

  void open(Rank rank, const Output& output, const std::string& name, const LineId& id) {
    then_at_once([this, rank, &output, name, id] {
      RankPage& page = run_.page(rank);
      core::Line& line = page.lines.at(id);
      if (name == mark) {
        line.state = wrong("numbered_by_lines") ? id.sequence : ++page.words.states;
        if (wrong("numbered_by_lines")) ++page.words.states;
        run_.output_of_state[{true, line.state, output.time}] = output.index;
      }
      if (!run_.habits.makes_state_files) run_.output_of_state[{false, id.sequence, output.time}] = output.index;
      if (name == mesh_file) page.mesh = line.mesh = id;
    });
    make_directory(rank, output.time);
    then([this, rank, &output, name, id] {
      Node& node = run_.home(rank);
      FilePointer& file = (*node.directories.at(rank).tree.at(output.time))[name];
      if (file) {  // O_TRUNC
        node.used -= static_cast<int>(file->bytes.size());
        file->bytes.clear();
      } else {
        file = std::make_shared<File>();
      }
      file->modified = run_.now;
      const auto opened = std::make_shared<OpenFile>(run_, rank, output, name, file);
      file->torn = run_.habits.has_closing_lines && state_names.contains(name);
      run_.direct[{rank, output.time}][name] = file;
      const bool by_fork = kind() == Kind::rank && output.by_fork == name;
      if (by_fork) {
        run_.add(std::make_unique<ForkedWriter>(run_, owner(), rank, output, id, opened));
      } else {
        write_parts(rank, output, id, opened);
      }
      return Next::pause;
    });
  }

  // A late file of a purged time makes the directory again.
  void make_directory(Rank rank, const std::string& time) {
    then([this, rank, time] {
      DirectoryPointer& directory = run_.directory(rank).tree[time];
      if (directory) return Next::go_on;
      directory = std::make_shared<Directory>();
      run_.direct[{rank, time}];
      make_directory(rank, time);
      return Next::pause;
    });
  }
};

class RankProgram : public Writer {
 public:
  RankProgram(Run& run, Rank rank, std::vector<Rank> ranks) : Writer(run, Kind::rank, rank), ranks_(std::move(ranks)) {
    for (const Output& output : run_.plan) then_at_once([this, &output] { write_output(output); });
    wait_while([this] {
      return !run_.behind[index()].empty() || std::ranges::any_of(run_.actors, [this](const Run::Scheduled& each) {
        return each.actor->kind() == Kind::child && each.actor->owner() == owner();
      });
    });
    // Ranks end together.
    wait_while([this] { return *std::ranges::min_element(run_.at) + 1 < static_cast<int>(run_.plan.size()); });
    then_step([this] {
      for (const Rank each : ranks_) run_.page(each).words.ended = true;
    });
    begin();
  }

 private:
  std::size_t index() const { return static_cast<std::size_t>(owner()); }

  void write_output(const Output& output) {
    // Ranks exchange messages.
    wait_while([this, &output] { return output.index - *std::ranges::min_element(run_.at) > run_.habits.most_ahead; });
    wait_while([this, &output] {
      const auto& behind = run_.behind[index()];
      return !behind.empty() && behind.begin()->first <= output.index - run_.habits.most_behind;
    });
    // S4: a writing thread shows itself before two later lines are begun.
    wait_while([this] {
      return std::ranges::any_of(run_.queue[index()], [this](const Run::Queued& each) {
        const core::Page& page = run_.page(each.rank).words;
        return page.place == 0 && run_.line_of.at({each.rank, each.output}).sequence < page.begun;
      });
    });
    // A child that removes this time has ended.
    wait_while([this, &output] {
      return std::ranges::any_of(ranks_, [&](Rank each) { return run_.being_removed.contains({each, output.time}); });
    });
    then_at_once(
        [this] { pauses(static_cast<int>(run_.random.draw() * (run_.random.chance(.96) ? 6 : 60))); });  // it computes
    then_at_once([this, &output] { write_files(output); });
  }

  void write_files(const Output& output) {
    std::vector<Rank> here;
    std::ranges::copy_if(ranks_, std::back_inserter(here),
                         [&](Rank each) { return !output.only_on || *output.only_on == each; });
    const auto files = std::make_shared<std::vector<Run::Queued>>();
    for (const Rank rank : here) {
      std::vector<std::string> names = output.names;
      if (output.has_mesh) names.insert(names.begin() + (names.front() == mark ? 1 : 0), mesh_file);
      if (output.cloud_on == rank) names.push_back(cloud_file);
      then_at_once([this, rank, &output, count = static_cast<int>(names.size())] {
        run_.pending[{rank, output.index}] = count;
      });
      for (const std::string& name : names) files->push_back({rank, output.index, name});
      begin_line(rank, output);
      then_at_once([this, rank, &output] { write_late_file_again(rank, output); });
    }
    then_at_once([this, &output, files] {
      std::vector<Run::Queued> queued;
      for (const Run::Queued& each : *files)
        if (run_.habits.by_thread.contains(each.name)) {
          queued.push_back(each);
        } else {
          write(each.rank, output, each.name);
        }
      if (queued.empty()) return;
      run_.behind[index()][output.index] = static_cast<int>(queued.size());
      std::ranges::copy(queued, std::back_inserter(run_.queue[index()]));
    });
    then_at_once([this, &output, here] {
      for (const Rank each : ranks_) run_.at[static_cast<std::size_t>(each)] = output.index;
      std::erase(written_, output.time);
      if (!here.empty()) written_.push_back(output.time);
      purge_oldest();
      if (output.has_late_file)  // a function object writes behind the purge
        for (const Rank each : here) write(each, output, properties);
    });
  }

  // A function object writes once more into the time before.
  void write_late_file_again(Rank rank, const Output& output) {
    const RankDirectory& mine = run_.directory(rank);
    if (output.index == 0 || mine.page.words.collated || run_.being_removed.contains({rank, output.time})) return;
    const Output& last = run_.plan[static_cast<std::size_t>(output.index - 1)];
    const auto line = run_.line_of.find({rank, last.index});
    if (!last.has_late_file || line == run_.line_of.end() || run_.being_removed.contains({rank, last.time})) return;
    const bool stands = mine.page.is_newest(line->second) && mine.tree.contains(last.time) &&
                        mine.tree.at(last.time)->contains(properties);
    if (!stands || mine.page.lines.at(line->second).state == 0) return;
    ++run_.times_written_late;
    run_.written_late.insert({rank, last.index});
    pauses(run_.random.below(60));
    write(rank, last, properties);
  }

  // S1: the main thread makes a time, or opens for writing in one that is not its newest line, or its uniform/time once
  // more.
  void begin_line(Rank rank, const Output& output) {
    // Ages tell ticks apart. Files that a time takes from an older one are of an earlier tick.
    wait_while([this, rank, &output] {
      const RankDirectory& mine = run_.directory(rank);
      const auto found = mine.tree.find(output.time);
      return found != mine.tree.end() && !output.full && std::ranges::any_of(*found->second, [this](const auto& each) {
               return each.second->modified >= run_.now;
             });
    });
    then([this, rank, &output] {
      RankDirectory& mine = run_.directory(rank);
      RankPage& page = mine.page;
      const auto newest = page.newest.find(output.time);
      const core::Line* const old =
          newest == page.newest.end() ? nullptr : &page.lines.at({output.time, newest->second});
      const bool marks = std::ranges::count(output.names, mark) > 0;
      const bool is_late = old && old->state != 0 && mine.tree.contains(output.time) && !marks && !page.words.collated;
      run_.times_written_late += is_late;
      if (is_late && !wrong("begun_by_any_name")) return Next::pause;
      if (!is_late) run_.begun.insert({rank, output.index});
      if (!(wrong("mark_again_ignored") && old && newest->second == page.words.begun)) {
        const LineId id{output.time, ++page.words.begun};
        page.lines[id] = {.id = id, .begun_at = run_.now, .mesh = page.mesh, .begun_before = old != nullptr};
        page.newest[output.time] = id.sequence;
      }
      const LineId id{output.time, page.newest.at(output.time)};
      run_.output_of[{rank, id}] = output.index;
      run_.line_of[{rank, output.index}] = id;
      run_.tell("rank " + std::to_string(rank) + " begins " + id.time + " as line " + std::to_string(id.sequence) +
                (output.full ? ", a full state" : ""));
      then_step([this, rank, &output] {
        DirectoryPointer& directory = run_.directory(rank).tree[output.time];
        if (!directory) directory = std::make_shared<Directory>();
        run_.direct[{rank, output.time}];
      });
      return Next::pause;
    });
  }

  void purge_oldest() {
    if (run_.habits.kept_by_program == 0 || static_cast<int>(written_.size()) <= run_.habits.kept_by_program) return;
    const std::string time = written_.front();
    written_.erase(written_.begin());
    // It does not remove what its children are still writing.
    wait_while([this, time] {
      return std::ranges::any_of(ranks_, [&](Rank each) { return run_.being_written.contains({each, time}); });
    });
    then_at_once([this, time] {
      if (run_.habits.purge == Habits::Purge::child) {
        for (const Rank each : ranks_) run_.being_removed.insert({each, time});
        run_.add(make_child(run_, ranks_, time));
      } else {
        for (const Rank each : ranks_) purge(each, time);
      }
    });
  }

  std::vector<Rank> ranks_;
  std::vector<std::string> written_;
};

// It writes in the order in which it was told.
class WritingThread : public Writer {
 public:
  WritingThread(Run& run, Rank rank) : Writer(run, Kind::thread, rank) {
    wait_while([this] { return queue().empty(); });
    then_at_once([this] { pauses(run_.random.pick({0, 0, 60})); });  // it starts slowly
    then_at_once([this] { write_next(); });
    begin();
  }

 private:
  std::vector<Run::Queued>& queue() { return run_.queue[static_cast<std::size_t>(owner())]; }

  void write_next() {
    if (!queue().empty()) {
      const Run::Queued next = queue().front();
      queue().erase(queue().begin());
      write(next.rank, run_.plan[static_cast<std::size_t>(next.output)], next.name, true);
      then_at_once([this, output = next.output] {
        auto& behind = run_.behind[static_cast<std::size_t>(owner())];
        if (--behind[output] == 0) behind.erase(output);
      });
    }
    pauses(1);
    then_at_once([this] { write_next(); });
  }
};

// A purge that the library does not see: rm in a child.
class Child : public Actor {
 public:
  Child(Run& run, std::vector<Rank> ranks, std::string time)
      : Actor(Kind::child, ranks.front()), run_(run), time_(std::move(time)) {
    for (const Rank rank : ranks) then_at_once([this, rank] { remove(rank); });
    then_at_once([this, ranks] {
      for (const Rank rank : ranks) run_.being_removed.erase({rank, time_});
    });
    begin();
  }

 private:
  void remove(Rank rank) {
    RankDirectory& mine = run_.directory(rank);
    const auto found = mine.tree.find(time_);
    if (found == mine.tree.end()) return;
    const auto line = mine.page.newest.find(time_);
    if (line != mine.page.newest.end()) run_.tampered.insert({rank, run_.output_of.at({rank, {time_, line->second}})});
    const DirectoryPointer directory = found->second;
    std::vector<std::string> names;
    for (const auto& [name, file] : *directory) names.push_back(name);
    run_.random.shuffle(names);
    for (const std::string& name : names)
      then_step([this, rank, directory, name] {
        if (!directory->contains(name)) return;
        Node& node = run_.home(rank);
        node.unlink(*directory, name);
        run_.direct[{rank, time_}].erase(name);
        if (node.has_agent) {
          node.events.push_back({rank, time_, name});
        } else {
          node.events_lost = true;
        }
      });
    then_step([this, rank, directory] {
      RankDirectory& here = run_.directory(rank);
      const auto still = here.tree.find(time_);
      if (!directory->empty() || still == here.tree.end() || still->second != directory) return;
      here.tree.erase(still);
      run_.direct.erase({rank, time_});
    });
  }

  Run& run_;
  std::string time_;
};

}  // namespace

std::unique_ptr<Actor> make_rank(Run& run, Rank rank, std::vector<Rank> writes_for) {
  return std::make_unique<RankProgram>(run, rank, std::move(writes_for));
}
std::unique_ptr<Actor> make_thread(Run& run, Rank rank) {
  return std::make_unique<WritingThread>(run, rank);
}
std::unique_ptr<Actor> make_child(Run& run, std::vector<Rank> ranks, std::string time) {
  return std::make_unique<Child>(run, std::move(ranks), std::move(time));
}

}  // namespace forebay::simulator
