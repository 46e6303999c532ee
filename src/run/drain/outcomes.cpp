// Takes in the outcomes of the mover.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "run/drain/state.h"

namespace forebay::drain {
namespace {

bool is_nothing_to_carry(const std::string& local) {
  struct stat status {};
  if (::lstat(local.c_str(), &status) != 0) return errno == ENOENT || errno == ENOTDIR;
  return !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode);
}

}  // namespace

void Work::take(const Outcome& outcome) {
  const auto found = jobs.find(outcome.ticket);
  if (found == jobs.end()) return;
  eviction.note_job_ended();
  Job& job = found->second;
  if (std::exchange(job.holds_refresh, false)) waiting.growing().job_was_tried();
  bool by_ranks = false;
  if (outcome.result) {
    not_carried.failures.erase(job.key);
    carried(job, *outcome.result);
  } else {
    const Error& error = outcome.result.error();
    not_carried.failures[job.key] = error.text();
    if (!outcome.final) return;
    note_made_directories(job);
    if (error.code == Code::conflict && job.kind != Job::Kind::growth) {
      run.record(conflict_record(job.key));
      not_carried.given_up.insert(job.key);
      not_carried.failures.erase(job.key);
      run.trouble = graver(run.trouble, Code::conflict);
      if (not_carried.given_up.size() <= names_told) run.note(Code::conflict, error.text());
    } else if (job.kind == Job::Kind::quiet_time) {
      not_carried.failures.erase(job.key);  // its files are carried one by one
    } else if (job.prepared->not_collatable && run.phase != Phase::done) {
      // The layout cannot hold this time (the error names the file): it is carried as it is.
      groups.note_not_collatable(job.time);
      by_ranks = true;
      run.tell(fmt::format("time {} is drained uncollated: {}", job.time, error.text()));
      not_carried.failures.erase(job.key);
    } else if (source_unreadable(error) && run.phase != Phase::done) {
      by_ranks = unreadable.set_aside(job, error);
    } else if (job.kind == Job::Kind::growth || (job.kind == Job::Kind::checkpoint && source_changed(error))) {
      not_carried.failures.erase(job.key);  // it is looked at again
    } else if (job.kind == Job::Kind::file && is_nothing_to_carry(local_of(run.roots, job.key))) {
      // The program removed it, or it is a directory, pipe, socket or device now.
      not_carried.failures.erase(job.key);
    } else if (job.kind == Job::Kind::file && run.phase == Phase::running) {
      waiting.wait_for_quiet(job.key, std::nullopt, job.place.turn);  // changed while it was read
    }
  }
  in_flight.erase(job.key);
  links.note_landed(job.key);
  if (in_flight.empty()) acts.forget_removals_in_flight();
  if (job.from_held) held.use(job.time, false);
  const Job done = std::move(job);
  jobs.erase(found);
  if (by_ranks) submit_time(done.time, done.from_held);
  if (done.kind == Job::Kind::checkpoint)
    checkpoints.landed(done, outcome.result && !outcome.result->files.empty(),
                       done.prepared->differs || (!outcome.result && source_changed(outcome.result.error())));
  if (!done.prepared->several_names.empty()) links.find_partners(done);
  if (done.kind == Job::Kind::quiet_time && !run.ledger.find(done.key) && !not_carried.given_up.contains(done.key))
    waiting.times().try_again(done, !outcome.result && source_changed(outcome.result.error()));
  if (!comes_again(done)) mover->leave(done.place);
}

// Whether the file of the job comes again in the same turn.
bool Work::comes_again(const Job& job) const {
  if (waiting.is_turn_of(job.key, job.place.turn)) return true;
  return in_flight.contains(job.key) &&
         std::ranges::any_of(jobs, [&](const auto& each) { return each.second.place.turn == job.place.turn; });
}

void Work::note_made_directories(const Job& job) {
  for (const auto& [directory, mode] : job.prepared->directories) {
    const auto known = run.ledger.find(directory);
    if (known && known->directory && job.kind != Job::Kind::directory) continue;
    run.record(drained_directory_record(directory, mode, job.prepared->owner));
    // Its own job may have come before the one that made its parent. The job of a new time carries more than the
    // directory.
    const auto time = run.time_of(directory, true);
    if (!time || !run.is_own_new_time(*time)) not_carried.failures.erase(directory);
    acts.catch_up_removal(directory);
  }
}

void Work::file_carried(const Job& job, const PublishedFile& file) {
  if (!job.prepared->continues) run.figures.carried_file(run.ledger.was_drained(file.path));
  const auto link = job.prepared->links.find(file.path);
  if (link != job.prepared->links.end()) {
    run.record(drained_link_record(file.path, file.identity, link->second));
  } else {
    const auto mark = job.prepared->marks.find(file.path);
    const auto first = file.linked_to.empty() ? std::nullopt : run.ledger.find(file.linked_to);
    const Record now =
        drained_record(file.path, file.identity, mark == job.prepared->marks.end() ? LocalMark{} : mark->second,
                       first ? first->checksum : file.checksum);
    if (job.kind == Job::Kind::growth && job.prepared->continues)
      waiting.growing().record(file.path, now);
    else
      run.record(now);
  }
  // A growing file is carried once more when it is closed.
  if (job.kind != Job::Kind::growth) doubts.carried(file.path, job);
  if (!doubts.was_closed(file.path)) run.uncarried.gone(file.path);
  if (!file.linked_to.empty()) links.note_second_name(file);
  acts.catch_up_removal(file.path);
  waiting.times().of_script().note_carried();
  waiting.is_on_case(file.path);
  const bool purged = job.from_held && job.kind == Job::Kind::rank_time && !name_exists(local_of(run.roots, file.path));
  if (purged) acts.removed_by_program(file.path);  // before it was carried, so that no event will tell
}

void Work::carried(const Job& job, const Published& published) {
  for (const std::string& path : job.prepared->removed) run.record(removed_record(path));
  if (job.kind == Job::Kind::removal) return;
  note_made_directories(job);
  if (job.kind == Job::Kind::growth || job.prepared->tail) waiting.growing().note_outcome(job);
  if (job.prepared->postponed) {
    if (run.phase == Phase::running && job.kind == Job::Kind::quiet_time) return;
    if (run.phase == Phase::running) {
      waiting.wait_for_quiet(job.key);
    } else {
      not_carried.still_open.insert(job.key);
    }
    return;
  }
  if (job.kind == Job::Kind::comparison) return doubts.compared(job);
  if (job.kind == Job::Kind::directory || !job.prepared->several_names.empty()) return;
  if (published.files.empty()) return;  // gone before its turn came
  for (const PublishedFile& file : published.files) file_carried(job, file);
  links.note_separated(published.separated);
  for (const std::string& path : published.without_set_id)
    run.note(std::nullopt,
             fmt::format("{} is without its setuid or setgid bit on the case, since this user may not give it "
                         "the owner or group that the bit was set for",
                         printable(path)));
  run.figures.carried_bytes(published.bytes);
  if (job.kind == Job::Kind::file || job.kind == Job::Kind::growth || job.kind == Job::Kind::quiet_time) return;
  if (job.kind == Job::Kind::checkpoint) return checkpoints.carried(job, published);
  if (job.kind == Job::Kind::group_time) {
    run.record(collated_record({job.time, std::string(parent_of(job.key)), job.rank, job.last, job.prepared->sources}));
    note_sources_of_group(job);
    groups.note_made(job.rank, job.last);
  }
  // Carried from what was held, the program having purged it: its removal follows like any other, at the end.
  for (int rank = job.rank; rank <= job.last; ++rank) {
    drained.ranks.insert({rank, job.time});
    const std::string directory = run.time_directory(rank, job.time);
    if (job.from_held && !name_exists(local_of(run.roots, directory))) acts.removed_by_program(directory);
  }
  time_carried(job.time);
}

// The case has what its files held, but for those that were closed again since.
void Work::note_sources_of_group(const Job& job) {
  for (int rank = job.rank; rank <= job.last; ++rank) run.uncarried.gone(run.time_directory(rank, job.time));
  for (const std::string& path : doubts.closed_names()) run.uncarried.written(path);
}

void Work::time_carried(const std::string& time) {
  for (const int rank : run.ranks)
    if (!drained.contains(rank, time)) return;
  drained.times.insert(time);
  for (const int rank : run.ranks) drained.ranks.erase({rank, time});
  times_home.push_back(time);
}

}  // namespace forebay::drain
