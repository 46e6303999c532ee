// Units: how paths and times become work for the mover, and what its outcomes mean.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "run/drain/placed.h"
#include "run/drain/state.h"
#include "run/drain/units.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {
namespace {

bool is_no_file(const std::string& local) {
  struct stat status {};
  return ::lstat(local.c_str(), &status) != 0 ? errno == ENOENT || errno == ENOTDIR : S_ISDIR(status.st_mode);
}

}  // namespace

void Drain::State::submit(Job job, Mover::Make make) {
  if (jobs.empty()) last_progress = Clock::now();  // patience counts while there is something to wait for
  in_flight.insert(job.key);
  if (job.from_keep) keep.use(job.time, true);
  const std::uint64_t ticket =
      mover->submit(std::move(make), [this](const Outcome& outcome) { outcomes.push(outcome); });
  jobs.emplace(ticket, std::move(job));
  ++submitted_in_pass;
  last_found = Clock::now();
}

void Drain::State::submit_file(const std::string& path, bool must_be_sealed, std::shared_ptr<const Partners> partners) {
  std::string local = local_of(roots, path);
  struct stat status {};
  if (::lstat(local.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return;
  if (S_ISLNK(status.st_mode)) {
    // Only links that stand for staged or placed files are looked through; every other link is carried as a link.
    const auto target = read_link(local);
    if (target && *target == join(request.lower, path)) return;
    if (target && tree::is_staged_link(*target, request.lower)) {
      local = join(request.case_path, target->substr(request.lower.size() + 1));
    } else if (target && is_placed(*target, request.placed)) {
      if (::lstat(target->c_str(), &status) != 0) return;  // without its file it counts as undrained at the end
      if (S_ISREG(status.st_mode)) local = *target;
    }
  }
  if (const std::string way = in_the_way(path); !way.empty()) {
    ways.insert(way);  // at the end, when all else is on the case
    return;
  }
  const auto known = ledger.find(path);
  if (known && !free_borrowers(path)) {
    if (phase == Phase::running) pending[path] = Clock::now();
    return;
  }
  const auto replaces = known && !known->directory ? known->on_case : std::nullopt;
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::file, path, 0, 0, {}, false, prepared};
  // Directories that the case lacks, parents first, with the mode that they have locally.
  std::vector<std::pair<std::string, mode_t>> parents;
  for (std::string at(parent_of(path)); !at.empty(); at = parent_of(at)) {
    const auto parent = ledger.find(at);
    if (parent && parent->directory) break;
    struct stat directory {};
    if (::lstat(local_of(roots, at).c_str(), &directory) == 0)
      parents.emplace_back(at, (directory.st_mode & 0777) | S_IRWXU);  // its own mode comes when it is filled
  }
  std::reverse(parents.begin(), parents.end());
  submit(std::move(job),
         [path, local, replaces, parents, must_be_sealed, prepared, partners,
          in_pool = !is_below(local, request.case_path), &at_end = ending,
          files = shared.get()]() -> Result<std::optional<layouts::Unit>> {
           struct stat now {};
           // A link that took the place of a directory on the way: the file is gone from here, what is there is
           // another.
           const auto there = open_unlinked(local, O_PATH);
           if (!there) {
             const int reason = there.error().errno_value;
             if (reason == ENOENT || reason == ELOOP || reason == ENOTDIR) return std::nullopt;
             return tl::unexpected<Error>(told_as_unreadable(there.error()));
           }
           if (::fstat(there->get(), &now) != 0) return errno_error("cannot stat", local);
           if (S_ISREG(now.st_mode) &&
               ((must_be_sealed && !is_sealed(local)) || (at_end && in_pool && is_open_for_writing(local)))) {
             prepared->postponed = true;
             return std::nullopt;
           }
           const bool several_names = S_ISREG(now.st_mode) && now.st_nlink > 1;
           const FileId file{now.st_dev, now.st_ino};
           if (several_names && !partners) {
             prepared->several_names.insert(file);
             return std::nullopt;
           }
           auto unit = layouts::verbatim_file(local, path, replaces);
           if (!unit) return forward(unit);
           if (several_names && partners->contains(file)) unit->files.front().hard_link = partners->at(file);
           mark_sources(*unit, local, {}, *prepared);
           for (const auto& [parent, mode] : parents) {
             auto made = files->make_directory(parent, mode);
             if (!made && made.error().errno_value != EEXIST) return forward(made);
             prepared->directories[parent] = mode;
           }
           return std::optional(std::move(*unit));
         });
}

// Made where it is missing, and given its mode where the program changed it. The mode comes in a pass of its own, since
// it may forbid to put anything into the directory.
void Drain::State::submit_directory(const std::string& path) {
  struct stat status {};
  if (::lstat(local_of(roots, path).c_str(), &status) != 0) return;
  if (const std::string way = in_the_way(path); !way.empty()) {
    ways.insert(way);
    return;
  }
  const auto known = ledger.find(path);
  const bool there = known && known->directory;
  // The pool's file system or group may not give the bit that the case's directories hand down.
  const mode_t mode = there ? (status.st_mode & 07777) | (known->mode & S_ISGID) : (status.st_mode & 0777) | S_IRWXU;
  const auto prepared = std::make_shared<Prepared>();
  if (there) prepared->owner = given_to(owner_of(status), local_group(request.home));
  Job job{Job::Kind::directory, path, 0, 0, {}, false, prepared};
  submit(std::move(job), [path, there, mode, prepared, files = shared.get()]() -> Result<std::optional<layouts::Unit>> {
    auto made = there ? files->finish_directory(path, mode, {}, prepared->owner) : files->make_directory(path, mode);
    if (!made && (there || made.error().errno_value != EEXIST)) return forward(made);
    prepared->directories[path] = mode;
    return std::nullopt;
  });
}

void Drain::State::submit_rank_time(int rank, const std::string& time, bool from_keep,
                                    std::shared_ptr<const Partners> partners) {
  const std::string target = time_directory(rank, time);
  const auto directory = from_keep ? keep.as_directory(rank, time) : local_of(roots, target);
  if (!directory) return note(Code::undrained, "the kept time cannot be drained: " + directory.error().text());
  // Where a file of it has another name that is ours: kept aside, or in the tree.
  OwnNames own;
  for (const std::string& file : keep.files(rank, time)) own[file].push_back(keep.path(rank, time, file));
  if (from_keep)
    for (auto& [file, names] : own) names.push_back(join(local_of(roots, target), file));
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::rank_time, target, rank, rank, time, from_keep, prepared};
  submit(std::move(job),
         [rank, time, target, directory = *directory, prepared, partners, own = std::move(own), placed = request.placed,
          lower = request.lower, &at_end = ending]() -> Result<std::optional<layouts::Unit>> {
           auto rank_time = read_time(rank, directory, true, placed, lower);
           prepared->postponed = at_end && is_still_open(rank_time);
           if (prepared->postponed) return std::nullopt;
           if (!rank_time) return tl::unexpected<Error>(told_as_unreadable(rank_time.error()));
           if (!*rank_time) return std::nullopt;
           auto unit = layouts::verbatim_time(**rank_time, time);
           if (!unit && unit.error().errno_value == ENOENT) return std::nullopt;  // purged while it was read
           if (!unit) return tl::unexpected<Error>(told_as_unreadable(unit.error()));
           unit->target = target;
           if (auto used = use_placed(*unit, directory, placed); !used) return forward(used);
           if (!use_partners(*unit, directory, own, partners.get(), *prepared)) return std::nullopt;
           mark_sources(*unit, directory, placed, *prepared);
           return std::optional(std::move(*unit));
         });
}

void Drain::State::submit_group_time(int first, int last, const std::string& time, bool from_keep) {
  const std::string target = group_target(first, last, time);
  std::vector<std::pair<int, std::string>> directories;
  for (int rank = first; rank <= last; ++rank) {
    const auto directory = from_keep ? keep.as_directory(rank, time) : local_of(roots, time_directory(rank, time));
    if (!directory) return note(Code::undrained, "the kept time cannot be drained: " + directory.error().text());
    directories.emplace_back(rank, *directory);
  }
  const auto prepared = std::make_shared<Prepared>();
  Job job{Job::Kind::group_time, target, first, last, time, from_keep, prepared};
  submit(std::move(job),
         [directories, time, replaces = carried_group(target), all = request.settings.all_ranks, lower = request.lower,
          &at_end = ending, prepared]() -> Result<std::optional<layouts::Unit>> {
           std::vector<layouts::RankTime> ranks;
           for (const auto& [rank, directory] : directories) {
             auto rank_time = read_time(rank, directory, true, {}, lower);
             prepared->postponed = at_end && is_still_open(rank_time);
             if (prepared->postponed) return std::nullopt;
             if (!rank_time) return tl::unexpected<Error>(told_as_unreadable(rank_time.error()));
             if (!*rank_time) return std::nullopt;
             ranks.push_back(std::move(**rank_time));
           }
           const Sources sources = sources_of(ranks);
           auto unit = layouts::collated_time(ranks, time, all);
           prepared->not_collatable = !unit && unit.error().errno_value == 0;
           if (!unit) return tl::unexpected<Error>(told_as_unreadable(unit.error()));
           unit->replaces_directory = replaces;
           *prepared = {};
           prepared->sources = sources;
           for (const layouts::OutputDirectory& made : unit->directories)
             prepared->directories[join(unit->target, made.path)] = made.mode;
           return std::optional(std::move(*unit));
         });
}

// A complete time of this node, in the layout asked for.
void Drain::State::submit_time(const std::string& time, bool from_keep) {
  for (const int rank : times.ranks()) {
    const auto passed = passed_over.find({rank, time});
    if (passed == passed_over.end()) continue;
    const bool counted = passed->second > 0;
    passed_over.erase(passed);
    unseen.erase({rank, time});
    from_keep = false;
    if (!watcher) continue;
    std::vector<Event> known;
    // Before it is read: what happens to it from now on concerns the case.
    watcher->descend(time_directory(rank, time), Watcher::Follow::watch, known);
    for (const Event& event : known)
      if (!counted && event.kind == Event::Kind::found && !event.directory && !event.link) count_late(event.path);
    if (std::any_of(known.begin(), known.end(), [](const Event& event) { return event.kind == Event::Kind::overflow; }))
      events_lost();
  }
  for (const auto& [first, last] : groups_of_ranks()) {
    if (request.settings.collated && first >= 0 && is_new_time(first, time) && !not_collatable.contains(time)) {
      const std::string key = group_target(first, last, time);
      if (!ledger.collated_of(first, time) && !in_flight.contains(key) && !given_up.contains(key) &&
          !still_open.contains(key))
        submit_group_time(first, last, time, from_keep);
      continue;
    }
    for (int rank = first; rank <= last; ++rank) {
      const std::string key = time_directory(rank, time);
      const bool waits = still_open.contains(key) || in_pieces.contains({rank, time});
      if (!is_drained(rank, time) && !in_flight.contains(key) && !given_up.contains(key) && !waits)
        submit_rank_time(rank, time, from_keep);
    }
  }
}

// What waits for the end of the run, or for the program to purge it, goes now: its room is needed.
void Drain::State::submit_held() {
  look_into_passed_over(false);
  new_complete_times();
  for (const std::string& time : ledger.complete_times()) {
    struct stat status {};
    const auto& ranks = times.ranks();
    if (safe_times.contains(time) || ranks.empty()) continue;
    if (::lstat(local_of(roots, time_directory(ranks.front(), time)).c_str(), &status) == 0)
      submit_time(time, times.purged(time));
  }
  const auto held = request.settings.live ? decltype(pending)() : std::exchange(pending, {});
  for (const auto& [path, changed] : held)
    if (!in_flight.contains(path)) submit_file(path, true);
  for (Checkpoint& each : checkpoints) carry_checkpoint(each);
}

void Drain::State::settle(const Outcome& outcome) {
  const auto found = jobs.find(outcome.ticket);
  if (found == jobs.end()) return;
  nothing_to_evict.clear();
  Job& job = found->second;
  bool by_ranks = false;
  if (outcome.result) {
    failures.erase(job.key);
    carried(job, *outcome.result);
  } else {
    const Error& error = outcome.result.error();
    failures[job.key] = error.text();
    if (!outcome.final) return;
    note_made_directories(job);
    if (error.code == Code::conflict) {
      record(conflict_record(job.key));
      given_up.insert(job.key);
      failures.erase(job.key);
      note(Code::conflict, error.text());
    } else if (job.prepared->not_collatable && phase != Phase::done) {
      // The layout cannot hold this time (the error names the file): it is carried as it is.
      not_collatable.insert(job.time);
      by_ranks = true;
      note(std::nullopt, fmt::format("time {} is drained uncollated: {}", job.time, error.text()));
      failures.erase(job.key);
    } else if (source_unreadable(error) && phase != Phase::done) {
      by_ranks = set_aside_unreadable(job, error);
    } else if (job.kind == Job::Kind::file && is_no_file(local_of(roots, job.key))) {
      failures.erase(job.key);  // the program removed it, or made a directory of it: it is nothing to carry any more
    } else if (job.kind == Job::Kind::file && phase == Phase::running) {
      pending[job.key] = Clock::now();  // changed while it was read
    }
  }
  in_flight.erase(job.key);
  std::erase_if(carrying, [&](const auto& each) { return each.second == job.key; });
  if (in_flight.empty()) removed_in_flight.clear();
  if (job.from_keep) keep.use(job.time, false);
  const Job done = std::move(job);
  jobs.erase(found);
  if (by_ranks) submit_time(done.time, done.from_keep);
  if (done.kind == Job::Kind::checkpoint) checkpoint_landed(done, outcome.result && !outcome.result->files.empty());
  if (!done.prepared->several_names.empty()) find_partners(done);
  if (done.from_keep) release_kept();
}

void Drain::State::note_made_directories(const Job& job) {
  for (const auto& [directory, mode] : job.prepared->directories) {
    const auto known = ledger.find(directory);
    if (known && known->directory && job.kind != Job::Kind::directory) continue;
    record(drained_directory_record(directory, mode, job.prepared->owner));
    // Its own job may have come before the one that made its parent. That of a new time carries more than the
    // directory.
    const auto time = time_of(directory, true);
    if (!time || !serves(time->rank) || !is_new_time(time->rank, time->time)) failures.erase(directory);
    catch_up_removal(directory);
  }
}

void Drain::State::carried(const Job& job, const Published& published) {
  for (const std::string& path : job.prepared->removed) record(removed_record(path));
  if (job.kind == Job::Kind::removal) return;
  note_made_directories(job);
  if (job.prepared->postponed) {
    if (phase == Phase::running) {
      pending[job.key] = Clock::now();
    } else {
      still_open.insert(job.key);
    }
    return;
  }
  if (job.kind == Job::Kind::directory || !job.prepared->several_names.empty()) return;
  if (published.files.empty()) {  // gone before its turn came
    if (job.kind == Job::Kind::file) ++kept_from_shared;
    return;
  }
  for (const PublishedFile& file : published.files) {
    const auto link = job.prepared->links.find(file.path);
    if (link != job.prepared->links.end()) {
      record(drained_link_record(file.path, file.identity, link->second));
    } else {
      const auto mark = job.prepared->marks.find(file.path);
      record(drained_record(file.path, file.identity, mark == job.prepared->marks.end() ? LocalMark{} : mark->second,
                            file.checksum));
    }
    if (!file.linked_to.empty()) note_second_name(file);
    catch_up_removal(file.path);
    struct stat status {};
    const bool purged =
        job.from_keep && job.kind == Job::Kind::rank_time && ::lstat(local_of(roots, file.path).c_str(), &status) != 0;
    if (purged) removed_by_program(file.path);  // before it was carried, so that no event will tell
  }
  separated += published.separated;
  for (const std::string& path : published.without_set_id)
    note(std::nullopt,
         fmt::format("{} is without its setuid or setgid bit on the case, since this user may not give it "
                     "the owner or group that the bit was set for",
                     printable(path)));
  shared_files += published.files.size();
  shared_bytes += published.bytes;
  if (job.kind == Job::Kind::file) return;
  if (job.kind == Job::Kind::checkpoint) return checkpoint_carried(job, published);
  if (job.kind == Job::Kind::group_time) {
    record(collated_record({job.time, std::string(parent_of(job.key)), job.rank, job.last, job.prepared->sources}));
    const std::pair group{job.rank, job.last};
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  // Carried from what was kept, the program having purged it: its removal follows like any other, at the end.
  const auto purged = purged_kept.find(job.time);
  for (int rank = job.rank; rank <= job.last; ++rank) {
    drained_ranks.insert({rank, job.time});
    if (purged != purged_kept.end() && purged->second.contains(rank))
      removed_by_program(time_directory(rank, job.time));
  }
  time_carried(job.time);
}

void Drain::State::time_carried(const std::string& time) {
  for (const int rank : times.ranks())
    if (!is_drained(rank, time)) return;
  drained_times.insert(time);
  for (const int rank : times.ranks()) drained_ranks.erase({rank, time});
  if (!times.complete(time) && !ledger.complete_times().contains(time)) return;
  safe_times.insert(time);
  if (note_safe(time)) {
    timeline.safe(time, now());
    last_safe = Clock::now();
  }
  if (request.settings.hold_times) superseding.insert(time);
  times.compact(time);
}

}  // namespace forebay::drain
