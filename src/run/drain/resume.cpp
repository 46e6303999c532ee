// A Drain from what a dead one left: its journal, what it kept aside, and the local trees.

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <set>

#include "base/shell.h"
#include "run/advice/commands.h"
#include "run/drain/placed.h"
#include "run/drain/state.h"

namespace forebay::drain {
namespace {

// The page of the ranks as forebay made it up to contract 1: what they purged lies where only that finds it.
constexpr const char* older_page_name = "hold";

// Too little for what a program writes at once.
bool is_full(const std::string& directory) {
  constexpr std::uint64_t little = std::uint64_t{1} << 20;
  struct statvfs room {};
  if (::statvfs(directory.c_str(), &room) != 0) return false;
  return std::uint64_t{room.f_bavail} * room.f_frsize < little || (room.f_files > 0 && room.f_favail == 0);
}

tl::unexpected<Error> no_journal(const Error& failure, const DrainRequest& request, const std::vector<Root>& roots) {
  if (roots.empty() || (failure.errno_value != ENOENT && failure.code != Code::lost))
    return tl::unexpected<Error>(failure);
  const std::string advice =
      fmt::format("its files lie in {0}: {1}, compare what both have, then {2}", printable(roots.front().local),
                  copy_by_hand(roots.front().local, request.case_path), advice::throw_away(request.case_path));
  if (failure.errno_value != ENOENT) return error(Code::lost, failure.what, failure.path, advice);
  return error(Code::lost, "the journal is gone, so nobody can tell what the program wrote:", failure.path, advice);
}

// The journal, and the case that it tells of. The case itself was staged first; since then it may have been mounted
// anew, under another device number.
Status open_left(Run& run) {
  const DrainRequest& request = run.request;
  const std::string path = join(request.home, "journal");
  auto replayed = Journal::replay(path, [&](const Record& entry) { run.ledger.apply(entry); });
  if (!replayed) return no_journal(replayed.error(), request, run.roots);
  const auto itself = run.ledger.find("");
  auto shared =
      open_shared(request.case_path, Resolve::by_kernel,
                  itself && itself->on_case ? std::optional(itself->on_case->device) : std::nullopt, request.linked);
  if (!shared) return forward(shared);
  run.shared = std::move(*shared);
  auto journal = Journal::open(path, request.durable, request.budget);
  if (!journal) return forward(journal);
  run.journal.emplace(std::move(*journal));
  return {};
}

// Where nobody watched the end of a program without the library, only the pool tells that writes may have failed.
void ask_pools(Run& run, Observation& seen) {
  if (run.ledger.ended_cleanly() || (run.witnesses.failed_writes && run.witnesses.failed_writes->is_watched())) return;
  std::set<std::string> pools{run.request.home};
  for (const Root& root : run.roots) pools.insert(root.pool);
  if (std::ranges::none_of(pools, is_full)) return;
  run.witnesses.pool_was_scarce = true;
  seen.pool_ran_full();
}

// For people, who want to know how much is to come.
void note_only_local(Run& run) {
  const Uncarried::Contents names = Uncarried::read(join(run.request.home, uncarried_name));
  for (const auto& [directory, in_it] : names.written)
    for (const std::string& name : in_it) {
      const std::string path = join(directory, name);
      const auto status = status_of(content_of(local_of(run.roots, path), run.request.placed));
      if (status && S_ISREG(status->st_mode))
        run.uncarried.closed(path, static_cast<std::uint64_t>(status->st_size), run.now());
    }
}

// Finds files that are missing from the pools, before anything changes in the trees.
std::set<std::string> find_missing_files(Run& run) {
  run.uncarried.open(join(run.request.home, uncarried_name));
  note_only_local(run);
  return run.uncarried.find_missing(run.roots, run.request.placed);
}

// Removes the states that the dead run had taken, and the times that it was about to free.
void remove_taken(const std::vector<Root>& roots) {
  for (const Root& root : roots) {
    (void)remove_tree(held_in(root.pool));
    const std::string keep = kept_in(root.pool);
    for (const auto& rank : list_directory(keep).value_or(std::vector<DirectoryEntry>()))
      for (const auto& each : list_directory(join(keep, rank.name)).value_or(std::vector<DirectoryEntry>()))
        if (each.name.starts_with(freed_prefix)) (void)remove_tree(join(join(keep, rank.name), each.name));
  }
}

// Directories of ranks that came with their files, parents first.
Status note_named_directories(Run& run, const std::string& file) {
  std::vector<std::string> unknown;
  for (std::string at(parent_of(file)); !at.empty() && !run.ledger.find(at); at = parent_of(at)) unknown.push_back(at);
  if (openfoam::group_of(file.substr(0, file.find('/'))) && !run.time_path(file)) return {};
  for (auto directory = unknown.rbegin(); directory != unknown.rend(); ++directory) {
    const auto status = run.shared->status(*directory);
    if (!status) return forward(status);
    if (*status) run.record(drained_directory_record(*directory, (*status)->st_mode & 07777, std::nullopt));
  }
  return {};
}

// Files that got their names just before the run was killed are its own.
Status note_named(Run& run) {
  const auto placing = run.ledger.placing();
  for (const auto& [named, before] : placing) {
    const auto status = run.shared->status(named);
    if (!status) return forward(status);
    if (!*status) continue;
    const Identity now = identity_of(**status);
    if (now.inode != before.inode || now.size != before.size || now.mtime_ns != before.mtime_ns) continue;
    if (auto noted = note_named_directories(run, named); !noted) return noted;
    run.record(placed_record(named, now));
  }
  return {};
}

// True if `path` holds nothing but what the journal knows of `target` on the case, and of the names below it.
Result<bool> is_older_version(const Run& run, const std::string& path, const std::string& target) {
  const auto status = run.shared->status(path);
  if (!status) return forward(status);
  if (!*status) return true;
  if (!S_ISDIR((*status)->st_mode)) {
    const auto known = run.ledger.find(target);
    const Identity now = identity_of(**status);
    return known && known->on_case && now.inode == known->on_case->inode && now.size == known->on_case->size &&
           now.mtime_ns == known->on_case->mtime_ns;
  }
  const auto entries = run.shared->list(path);
  if (!entries) return forward(entries);
  for (const DirectoryEntry& each : *entries)
    if (auto older = is_older_version(run, join(path, each.name), join(target, each.name)); !older || !*older)
      return older;
  return true;
}

// Two versions of a name changed places when the run was killed, or were about to.
Status remove_replaced(Run& run) {
  for (const auto& [temporary, of] : run.ledger.replacing()) {
    const auto status = run.shared->status(temporary);
    if (!status) return forward(status);
    if (!*status) continue;
    const auto ours = (*status)->st_ino == of.inode ? Result<bool>(true) : is_older_version(run, temporary, of.target);
    if (!ours) return forward(ours);
    if (!*ours)
      run.note(Code::conflict, fmt::format("changed on the case just before the run was killed: {}; that version is "
                                           "beside it as {}; keep the one you want",
                                           printable(of.target), printable(name_of(temporary))));
    else if (auto removed = remove_temporary(*run.shared, temporary); !removed)
      run.note(std::nullopt, "left behind by the dead run: " + removed.error().text());
  }
  return {};
}

// Removes half-written files that the dead run left on the case: only names that its journal knows.
void remove_temporaries(Run& run) {
  const std::set<std::string> stale = run.ledger.temporaries();
  for (const std::string& temporary : stale) {
    if (auto removed = remove_temporary(*run.shared, temporary); !removed) {
      run.note(std::nullopt, "left behind by the dead run: " + removed.error().text());
    } else {
      run.record(temporary_record(temporary, false));
    }
  }
}

// The pages tell which times the ranks have left, and in which of these a write failed. What was cut in a full pool
// nobody knows where no library tells.
void read_pages(Run& run, RestartPoints& points, Observation& seen) {
  run.witnesses.pages = Pages::left_in(join(run.request.home, pages_name));
  points.note_start();
  if (run.ledger.pool_was_full()) {
    run.trouble = graver(run.trouble, Code::pool_full);
    points.look(true);
    points.distrust_unwritten();
  }
  run.witnesses.failed_writes = FailedWrites::left_in(join(run.request.home, failed_writes_name));
  seen.note_failed_writes();
  ask_pools(run, seen);
}

void add_ranks(RestartPoints& points, Run& run, const std::vector<Root>& roots, const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    if (!run.add_rank(rank)) continue;
    points.add_rank(rank, {});
    const std::string local = local_of(roots, run.time_directory(rank, "x"));
    for (const Root& root : roots)
      if (is_below(local, root.local) && name_exists(join(root.pool, sentinel_name)))
        points.add_rank(rank, kept_directory(rank, root.pool, run.request.settings.written_groups));
  }
}

}  // namespace

Result<std::unique_ptr<Drain>> Drain::stand_in(const DrainRequest& request, const std::vector<Root>& roots,
                                               const std::vector<int>& ranks, Clock& clock) {
  auto state = std::make_unique<State>(request, clock);
  auto replayed =
      Journal::replay(join(request.home, "journal"), [&](const Record& entry) { state->run.ledger.apply(entry); });
  if (!replayed) return forward(replayed);
  state->run.roots = roots;
  add_ranks(state->points, state->run, roots, ranks);
  state->run.witnesses.pages = Pages::left_in(join(request.home, pages_name));
  state->points.note_start();
  return std::unique_ptr<Drain>(new Drain(std::move(state)));
}

Result<std::unique_ptr<Drain>> Drain::resume(const DrainRequest& request, const std::vector<Root>& roots,
                                             const std::vector<int>& ranks, Clock& clock) {
  if (name_exists(join(request.home, older_page_name)))
    return error(Code::undrained, "an older forebay made the run in", request.home,
                 "only that finds all of it: resume with the version that began the run");
  auto state = std::make_unique<State>(request, clock);
  Run& run = state->run;
  run.roots = roots;
  if (auto opened = open_left(run); !opened) return forward(opened);
  state->end.note_missing_files(find_missing_files(run));
  tell_alive(request.home);  // what changes from here on is this process's doing
  run.figures.missed();      // what was removed before
  remove_taken(roots);
  state->work.doubts.note_unwatched();
  state->work.eviction.give_back_left();
  add_ranks(state->points, run, roots, ranks);
  if (auto opened = state->work.checkpoints.open(); !opened) return forward(opened);
  if (auto clean = remove_replaced(run); !clean) return forward(clean);
  if (auto own = note_named(run); !own) return forward(own);
  read_pages(run, state->points, state->seen);
  if (auto found = state->work.groups.find(); !found) return forward(found);
  remove_temporaries(run);
  state->work.mover = make_mover(run, state->work.temporaries);
  return std::unique_ptr<Drain>(new Drain(std::move(state)));
}

}  // namespace forebay::drain
