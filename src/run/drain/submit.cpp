// Units: how paths and times become work for the mover.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "run/drain/growing.h"
#include "run/drain/placed.h"
#include "run/drain/state.h"
#include "run/drain/units.h"

namespace forebay::drain {
namespace {

struct LocalFile {
  std::string path, local;
  std::optional<Known> known;
  std::vector<std::pair<std::string, mode_t>> parents;
  std::shared_ptr<const Partners> partners;
  std::shared_ptr<const Version> version;
  std::optional<gid_t> group;
  bool must_be_sealed = false, in_pool = false;

  bool grows() const { return known && known->grows; }
};

// It is open for writing, or is another version by now, whose turn is another one.
bool must_wait(const LocalFile& file, const struct stat& now, bool at_end) {
  if (S_ISREG(now.st_mode) && file.must_be_sealed && !is_sealed(file.local)) return true;
  if (S_ISREG(now.st_mode) && at_end && file.in_pool && is_open_for_writing(file.local)) return true;
  return file.version && !file.grows() && !(mark_of(now) == file.version->mark);
}

// Makes the unit of a file, in a thread of the mover. nullopt: nothing is to be carried, or not now.
Result<std::optional<layouts::Unit>> unit_of(const LocalFile& file, SharedFiles& shared, bool at_end,
                                             FilesOnTheirWay& on_their_way, Prepared& prepared) {
  // A link that took the place of a directory on the way: the file is gone from here, what is there is another.
  const auto there = open_unlinked(file.local, O_PATH);
  if (!there) {
    const int reason = there.error().errno_value;
    if (reason == ENOENT || reason == ELOOP || reason == ENOTDIR) return std::nullopt;
    return tl::unexpected<Error>(as_unreadable(there.error()));
  }
  struct stat now {};
  if (::fstat(there->get(), &now) != 0) return errno_error("cannot stat", file.local);
  const FileId id{now.st_dev, now.st_ino};
  if (S_ISREG(now.st_mode)) {
    on_their_way.add(file.path, id);
    if (::fstat(there->get(), &now) != 0) return errno_error("cannot stat", file.local);
  }
  const bool several_names = S_ISREG(now.st_mode) && now.st_nlink > 1;
  const auto replaces = file.known && !file.known->directory ? file.known->on_case : std::nullopt;
  const auto with_parents = [&](layouts::Unit unit) -> Result<std::optional<layouts::Unit>> {
    const auto made = make_parents(shared, file.parents, prepared);
    if (!made) return forward(made);
    if (!*made) return std::nullopt;  // the next pass clears the way
    return std::optional(std::move(unit));
  };
  const bool was_linked = several_names && file.version && file.version->mark.inode == now.st_ino;
  if (file.version && file.version->unit && !file.grows() && !was_linked)
    return with_parents(held_unit(*file.version, file.path, replaces, prepared));
  prepared.postponed = must_wait(file, now, at_end);
  if (prepared.postponed) return std::nullopt;
  if (several_names && !file.partners) {
    on_their_way.remove(file.path);
    prepared.several_names.insert(id);
    return std::nullopt;
  }
  if (file.grows()) {
    const std::uint64_t most = file.version ? file.version->mark.size : UINT64_MAX;
    auto rest = remaining_part(shared, file.path, file.local, *file.known, file.group, most, prepared);
    if (!rest || *rest) return rest;
  }
  auto unit = layouts::verbatim_file(file.local, file.path, replaces);
  if (!unit) return forward(unit);
  if (several_names && file.partners->contains(id)) unit->files.front().hard_link = file.partners->at(id);
  mark_sources(*unit, file.local, {}, prepared);
  return with_parents(std::move(*unit));
}

}  // namespace

void Work::submit(Job job, Mover::Make make) {
  if (jobs.empty()) progress.last_made = run.clock.now();  // patience counts while there is something to wait for
  in_flight.insert(job.key);
  if (job.from_held) held.use(job.time, true);
  job.closings = doubts.closings();
  job.at_end = run.phase != Phase::running;
  const bool is_time =
      job.kind == Job::Kind::rank_time || job.kind == Job::Kind::group_time || job.kind == Job::Kind::quiet_time;
  if (is_time && job.place.turn == 0) job.place = {Line::times, ++run.last_turn};
  const std::uint64_t ticket = mover->submit(
      std::move(make), [this](const Outcome& outcome) { outcomes.push(outcome); }, job.place);
  jobs.emplace(ticket, std::move(job));
  ++progress.submitted_in_pass;
  progress.last_submitted = run.clock.now();
}

// The path of the content of a file or link of the tree. Only links that stand for staged or placed files are looked
// through; every other link is carried as a link. nullopt: there is nothing to carry.
std::optional<std::string> Work::source_of(const std::string& path) const {
  std::string local = local_of(run.roots, path);
  struct stat status {};
  if (::lstat(local.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return std::nullopt;
  if (!S_ISLNK(status.st_mode)) return local;
  const auto target = read_link(local);
  if (target && *target == join(run.request.lower, path)) return std::nullopt;
  if (target && tree::is_staged_link(*target, run.request.lower))
    return join(run.request.case_path, target->substr(run.request.lower.size() + 1));
  if (target && is_placed(*target, run.request.placed)) {
    if (::lstat(target->c_str(), &status) != 0) return std::nullopt;  // it counts as undrained at the end
    if (S_ISREG(status.st_mode)) return *target;
  }
  return local;
}

// Where the program exchanged it with a directory the case will have the file under its name first: nothing can be put
// there before, and only then is it known to be in the way.
bool Work::waits_for_file(const std::string& directory) const {
  const auto is_coming = [&](const std::string& path) {
    return in_flight.contains(path) && std::ranges::any_of(jobs, [&](const auto& each) {
             return each.second.kind == Job::Kind::file && each.second.key == path;
           });
  };
  for (std::string at(directory); !at.empty(); at = parent_of(at))
    if (is_coming(at)) return true;
  return false;
}

// Directories that the case lacks, parents first, with the mode that they have locally.
std::vector<std::pair<std::string, mode_t>> Work::missing_parents(const std::string& path) const {
  std::vector<std::pair<std::string, mode_t>> parents;
  for (std::string at(parent_of(path)); !at.empty(); at = parent_of(at)) {
    const auto parent = run.ledger.find(at);
    if (parent && parent->directory) break;
    struct stat directory {};
    if (::lstat(local_of(run.roots, at).c_str(), &directory) == 0) {
      parents.emplace_back(at, (directory.st_mode & 0777) | S_IRWXU);  // its own mode comes when it is filled
    } else if (const auto time = run.time_of(at, true); time && held.part_of(time->rank, time->time) != nullptr) {
      parents.emplace_back(at, (0777 & ~run.request.settings.mover.publish.umask) | S_IRWXU);
    }
  }
  std::ranges::reverse(parents);
  return parents;
}

void Work::submit_file(const std::string& path, bool must_be_sealed, std::shared_ptr<const Partners> partners,
                       std::uint64_t turn, std::shared_ptr<const Version> version) {
  if (const auto source = source_of(path))
    submit_file_from(*source, path, must_be_sealed, std::move(partners), turn, std::move(version));
}

// Submits files of a time that was purged when the case had some of it. The case has evicted files already. Other names
// of a file are ours.
void Work::submit_held_files(int rank, const std::string& time) {
  const std::string target = run.time_directory(rank, time);
  const HeldStates::Part* part = held.part_of(rank, time);
  if (part == nullptr) return;
  for (const auto& [name, file] : part->files) {
    const std::string path = join(target, name);
    const auto known = run.ledger.find(path);
    const bool is_home = known && known->on_case && is_as_known(*known, file.mark);
    if (!file.is_link && !is_home && !in_flight.contains(path) && !not_carried.given_up.contains(path))
      submit_file_from(join(part->directory, name), path, false, std::make_shared<Partners>(), 0, nullptr);
  }
}

void Work::submit_file_from(const std::string& source, const std::string& path, bool must_be_sealed,
                            std::shared_ptr<const Partners> partners, std::uint64_t turn,
                            std::shared_ptr<const Version> version) {
  if (const std::string way = acts.in_the_way(path); !way.empty()) {
    acts.note_way(way);
    return;
  }
  const auto known = run.ledger.find(path);
  if (known && !acts.free_borrowers(path)) {
    if (run.phase == Phase::running) waiting.wait_for_quiet(path, std::nullopt, turn);
    return;
  }
  if (waits_for_file(std::string(parent_of(path)))) return;  // a later pass finds it
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::file, path, 0, 0, {}, false, prepared};
  job.place = {Line::files, turn != 0 ? turn : ++run.last_turn};
  job.version_bytes = version ? version->bytes() : 0;
  const LocalFile file{path,
                       source,
                       known,
                       missing_parents(path),
                       std::move(partners),
                       std::move(version),
                       local_group(run.request.home),
                       must_be_sealed,
                       !is_below(source, run.request.case_path)};
  submit(std::move(job),
         [file, prepared, &at_end = run.is_ending, files = run.shared.get(), &on_their_way = links.on_their_way()] {
           return unit_of(file, *files, at_end, on_their_way, *prepared);
         });
}

// Made where it is missing, and given its mode where the program changed it. The mode comes in a pass of its own, since
// it may forbid to put anything into the directory.
void Work::submit_directory(const std::string& path) {
  if (waits_for_file(path)) return;  // a later pass finds it
  struct stat status {};
  if (::lstat(local_of(run.roots, path).c_str(), &status) != 0) return;
  if (const std::string way = acts.in_the_way(path); !way.empty()) {
    acts.note_way(way);
    return;
  }
  const auto known = run.ledger.find(path);
  const bool there = known && known->directory;
  // The pool's file system or group may not give the bit that the case's directories hand down.
  const mode_t mode = there ? (status.st_mode & 07777) | (known->mode & S_ISGID) : (status.st_mode & 0777) | S_IRWXU;
  const auto prepared = std::make_shared<Prepared>();
  if (there) prepared->owner = given_to(owner_of(status), local_group(run.request.home));
  Job job{Job::Kind::directory, path, 0, 0, {}, false, prepared};
  submit(std::move(job),
         [path, there, mode, prepared, files = run.shared.get()]() -> Result<std::optional<layouts::Unit>> {
           if (there) {
             if (auto finished = files->finish_directory(path, mode, {}, prepared->owner); !finished)
               return forward(finished);
           } else {
             const auto made = make_where_missing(*files, path, mode);
             if (!made) return forward(made);
             if (!*made) return std::nullopt;  // the next pass clears the way
           }
           prepared->directories[path] = mode;
           return std::nullopt;
         });
}

void Work::submit_rank_time(int rank, const std::string& time, bool from_held, std::shared_ptr<const Partners> partners,
                            std::uint64_t turn) {
  const std::string target = run.time_directory(rank, time);
  const HeldStates::Part* part = held.part_of(rank, time);
  if (from_held && part == nullptr) return;
  const std::string directory = from_held ? part->directory : local_of(run.roots, target);
  const OwnNames own = held.own_names(rank, time, directory);
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::rank_time, target, rank, rank, time, from_held, prepared};
  if (turn != 0) job.place = {Line::times, turn};
  submit(
      std::move(job),
      [rank, time, target, directory, prepared, partners, own, placed = run.request.placed, lower = run.request.lower,
       &at_end = run.is_ending, &on_their_way = links.on_their_way()]() -> Result<std::optional<layouts::Unit>> {
        auto rank_time = read_time(rank, directory, true, placed, lower);
        prepared->postponed = at_end && is_still_open(rank_time);
        if (prepared->postponed) return std::nullopt;
        if (!rank_time) return tl::unexpected<Error>(as_unreadable(rank_time.error()));
        if (!*rank_time) return std::nullopt;
        auto unit = layouts::verbatim_time(**rank_time, time);
        if (!unit && unit.error().errno_value == ENOENT) return std::nullopt;  // purged while it was read
        if (!unit) return tl::unexpected<Error>(as_unreadable(unit.error()));
        unit->target = target;
        if (auto used = use_placed(*unit, directory, placed); !used) return forward(used);
        if (!use_partners(*unit, directory, own, partners.get(), on_their_way, *prepared)) return std::nullopt;
        mark_sources(*unit, directory, placed, *prepared);
        return std::optional(std::move(*unit));
      });
}

// A time that was quiet (quiet_times.h).
void Work::submit_quiet_time(const std::string& directory) {
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::quiet_time, directory, 0, 0, {}, false, prepared};
  submit(std::move(job),
         [directory, local = local_of(run.roots, directory), prepared, placed = run.request.placed,
          lower = run.request.lower, &on_their_way = links.on_their_way()]() -> Result<std::optional<layouts::Unit>> {
           auto time = read_time(0, local, true, placed, lower);
           prepared->postponed = is_still_open(time);
           if (prepared->postponed) return std::nullopt;
           if (!time) return forward(time);
           if (!*time) return std::nullopt;
           auto unit = layouts::verbatim_time(**time, std::string(name_of(directory)));
           if (!unit) return unit;
           unit->target = directory;
           if (auto used = use_placed(*unit, local, placed); !used) return forward(used);
           Prepared names;
           if (!use_partners(*unit, local, {}, nullptr, on_their_way, names)) return std::nullopt;  // file by file
           mark_sources(*unit, local, placed, *prepared);
           return std::optional(std::move(*unit));
         });
}

void Work::submit_group_time(int first, int last, const std::string& time, bool from_held) {
  const std::string target = groups.path_of(first, last, time);
  std::vector<std::pair<int, std::string>> directories;
  for (int rank = first; rank <= last; ++rank) {
    const HeldStates::Part* part = held.part_of(rank, time);
    if (from_held && part == nullptr) return;
    directories.emplace_back(rank, from_held ? part->directory : local_of(run.roots, run.time_directory(rank, time)));
  }
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::group_time, target, first, last, time, from_held, prepared};
  submit(std::move(job),
         [directories, time, replaces = groups.files_on_case(target), all = run.request.settings.all_ranks,
          lower = run.request.lower, &at_end = run.is_ending, prepared]() -> Result<std::optional<layouts::Unit>> {
           std::vector<layouts::RankTime> ranks;
           for (const auto& [rank, directory] : directories) {
             auto rank_time = read_time(rank, directory, true, {}, lower);
             prepared->postponed = at_end && is_still_open(rank_time);
             if (prepared->postponed) return std::nullopt;
             if (!rank_time) return tl::unexpected<Error>(as_unreadable(rank_time.error()));
             if (!*rank_time) return std::nullopt;
             ranks.push_back(std::move(**rank_time));
           }
           const Sources sources = sources_of(ranks);
           auto unit = layouts::collated_time(ranks, time, all);
           prepared->not_collatable = !unit && unit.error().errno_value == 0;
           if (!unit) return tl::unexpected<Error>(as_unreadable(unit.error()));
           unit->replaces_directory = replaces;
           *prepared = {};
           prepared->sources = sources;
           for (const layouts::OutputDirectory& made : unit->directories)
             prepared->directories[join(unit->target, made.path)] = made.mode;
           return std::optional(std::move(*unit));
         });
}

// Submits a complete time of this node, in the layout asked for. Readers look for times in the first rank's directory,
// so that comes last.
void Work::submit_time(const std::string& time, bool from_held) {
  // Before it is read: what happens to it from now on concerns the case.
  for (const int rank : run.ranks) {
    if (!run.witnesses.watcher || !run.carries_times_whole()) break;
    std::vector<Event> known;
    run.witnesses.watcher->descend(run.time_directory(rank, time), Watcher::Follow::watch, known);
    if (std::ranges::any_of(known, [](const Event& event) { return event.kind == Event::Kind::overflow; }))
      run.witnesses.lost_events = true;
  }
  auto ranks_of_groups = groups.of_ranks();
  std::ranges::reverse(ranks_of_groups);
  for (const auto& [first, last] : ranks_of_groups) {
    if (run.request.settings.collated && first >= 0 && run.is_new_time(first, time) && groups.is_collatable(time)) {
      const std::string key = groups.path_of(first, last, time);
      if (!run.ledger.collated_of(first, time) && !in_flight.contains(key) && !not_carried.given_up.contains(key) &&
          !not_carried.still_open.contains(key))
        submit_group_time(first, last, time, from_held);
      continue;
    }
    for (int rank = last; rank >= first; --rank) {
      const std::string key = run.time_directory(rank, time);
      const bool waits = not_carried.still_open.contains(key) || unreadable.is_in_pieces(rank, time);
      if (from_held && held.is_home(rank, time)) continue;
      if (from_held && run.ledger.find(key)) {  // some of it is there
        submit_held_files(rank, time);
        continue;
      }
      if (!drained.contains(rank, time) && !in_flight.contains(key) && !not_carried.given_up.contains(key) && !waits)
        submit_rank_time(rank, time, from_held);
    }
  }
}

// Submits files and checkpoints that wait for the end of the run: their room is needed.
void Work::submit_waiting() {
  if (!run.request.settings.live) waiting.submit_quiet(Clock::duration::zero());
  checkpoints.carry_all();
}

// Removes a name from the case, with all that is known below it. The end removes names that cannot go now, because
// somebody changed them or the file system fails.
void Work::submit_removal(const std::string& path) {
  if (in_flight.contains(path)) return;
  std::vector<std::pair<std::string, Known>> below;
  run.ledger.each(path, [&](const std::string& each, const Known& known) {
    below.emplace_back(each, known);
    return true;
  });
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::removal, path, 0, 0, {}, false, prepared};
  submit(std::move(job),
         [below, prepared, files = run.shared.get(), &clock = run.clock]() -> Result<std::optional<layouts::Unit>> {
           for (auto at = below.rbegin(); at != below.rend(); ++at) {
             const auto& [each, known] = *at;
             const Status removed = known.directory
                                        ? files->remove_directory(each)
                                        : remove_published(*files, each, known.on_case.value_or(Identity{}), clock);
             if (!removed && removed.error().errno_value != ENOENT) break;
             prepared->removed.push_back(each);
           }
           return std::nullopt;
         });
}

}  // namespace forebay::drain
