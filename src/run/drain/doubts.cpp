// Files whose content is compared with what was carried, since nothing else tells whether it is still the same.
#include "run/drain/doubts.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "run/drain/placed.h"
#include "run/drain/state.h"
#include "run/drain/units.h"
#include "run/openfoam/openfoam.h"
#include "run/publish/publish.h"

namespace forebay::drain {
namespace {

// Also of a file that is gone.
Result<bool> is_same(SharedFiles& files, const std::string& local, const std::string& path, std::uint64_t expected) {
  const auto unit = layouts::verbatim_file(local, path, std::nullopt);
  if (!unit && unit.error().errno_value == ENOENT) return true;
  if (!unit) return tl::unexpected<Error>(as_unreadable(unit.error()));
  return holds_same(files, unit->files.front(), path, expected);
}

// EBUSY while a file of it is open for writing.
Result<bool> is_same(SharedFiles& files, const CarriedGroup& carried) {
  std::vector<layouts::RankTime> ranks;
  for (const auto& [rank, directory] : carried.directories) {
    auto rank_time = read_time(rank, directory, true, {}, carried.lower);
    if (!rank_time) return tl::unexpected<Error>(as_unreadable(rank_time.error()));
    if (!*rank_time) return true;
    ranks.push_back(std::move(**rank_time));
  }
  const auto unit = layouts::collated_time(ranks, carried.time, carried.all_ranks);
  if (!unit && unit.error().errno_value == 0) return false;  // it can be collated no more
  if (!unit) return tl::unexpected<Error>(as_unreadable(unit.error()));
  for (const layouts::OutputFile& file : unit->files) {
    const std::string path = join(carried.target, file.path);
    const auto known = carried.checksums.find(path);
    if (known == carried.checksums.end()) return false;
    const auto same = holds_same(files, file, path, known->second);
    if (!same || !*same) return same;
  }
  return true;
}

}  // namespace

std::vector<std::string> Doubts::closed_names() const {
  std::vector<std::string> names;
  for (const auto& [path, closings] : closed_)
    if (!path.starts_with('/')) names.push_back(path);
  return names;
}

// Only files that the case has, or that are on their way there: all others are carried anyway.
void Doubts::note_closing(const std::string& path) {
  if (path.starts_with('/')) {
    if (const auto name = work_.waiting.name_of_placed(path)) return note_closing(*name);
    closed_[path] = ++closings_;
    return;
  }
  const auto known = run_.ledger.find(path);
  const auto time = run_.time_path(path);
  bool concerned = known && (known->drained || known->copy);
  if (time)
    concerned = concerned || run_.ledger.collated_of(time->rank, time->time) ||
                work_.groups.is_in_flight(time->rank, time->time);
  for (std::string at(path); !concerned && !at.empty(); at = parent_of(at)) concerned = work_.in_flight.contains(at);
  if (concerned) closed_[path] = ++closings_;
}

bool Doubts::was_closed(const std::string& path) const {
  return closed_.contains(path) || closed_.contains(content_of(local_of(run_.roots, path), run_.request.placed));
}

bool Doubts::is_in_doubt(const std::string& path, const std::string& local, const struct stat& status,
                         const Known& known) const {
  if (settled_.contains(path) || is_below(local, run_.request.case_path)) return false;
  // A name that went away and came back was not watched in between.
  if (nobody_watched_ || run_.ledger.lost_events() || known.deleted || closed_.contains(path) ||
      closed_.contains(local))
    return true;
  if (known.copy && known.copy->inode != 0 && known.copy->inode != status.st_ino) return true;
  // A held file (held_states.h) has another name of ours, which changes its ctime.
  if (const auto time = run_.time_of(path, false); time && run_.is_own_new_time(*time))
    return status.st_nlink > (work_.held.of(time->time) != nullptr ? 2U : 1U);
  if (work_.checkpoints.containing(path) != nullptr) return false;
  const std::int64_t changed = known.drained ? known.drained->ctime_ns : known.copy ? known.copy->ctime_ns : 0;
  return status.st_nlink > 1 || identity_of(status).ctime_ns != changed;
}

bool Doubts::is_in_doubt(const CollatedTime& group) const {
  if (settled_.contains(join(group.group, group.time))) return false;
  if (nobody_watched_ || run_.ledger.lost_events()) return true;
  for (int rank = group.first; rank <= group.last; ++rank)
    if (is_written(run_.time_directory(rank, group.time))) return true;
  return false;
}

bool Doubts::is_written(const std::string& path) const {
  const auto below = closed_.lower_bound(path + "/");
  return closed_.contains(path) || (below != closed_.end() && is_below(below->first, path)) ||
         (run_.witnesses.watcher && run_.witnesses.watcher->waits_for(path, run_.now()));
}

void Doubts::carried(const std::string& path, const Job& job) {
  if (job.at_end) settled_.insert(path);
  if (closed_.empty()) return;
  for (const std::string& name : {path, content_of(local_of(run_.roots, path), run_.request.placed)})
    if (const auto found = closed_.find(name); found != closed_.end() && (job.at_end || found->second <= job.closings))
      closed_.erase(found);
}

void Doubts::begin_anew() {
  nobody_watched_ = true;
  settled_.clear();
}

void Doubts::compare(const Output& output) {
  const auto known = run_.ledger.find(output.path);
  if (!known) return;
  const auto prepared = std::make_shared<Prepared>();
  work_.submit(Job{Job::Kind::comparison, output.path, 0, 0, {}, false, prepared},
               [path = output.path, local = output.local, expected = known->checksum, prepared,
                files = run_.shared.get()]() -> Result<std::optional<layouts::Unit>> {
                 prepared->postponed = is_open_for_writing(local);
                 if (prepared->postponed) return std::nullopt;
                 const auto same = is_same(*files, local, path, expected);
                 if (!same) return forward(same);
                 prepared->differs = !*same;
                 return std::nullopt;
               });
}

void Doubts::compare(const CollatedTime& group) {
  const std::string target = join(group.group, group.time);
  if (work_.in_flight.contains(target) || work_.not_carried.still_open.contains(target)) return;
  const auto prepared = std::make_shared<Prepared>();
  work_.submit(
      Job{Job::Kind::comparison, target, group.first, group.last, group.time, false, prepared},
      [carried = carried_group(group), prepared, files = run_.shared.get()]() -> Result<std::optional<layouts::Unit>> {
        const auto same = is_same(*files, carried);
        prepared->postponed = !same && same.error().errno_value == EBUSY;
        if (prepared->postponed) return std::nullopt;
        if (!same) return forward(same);
        prepared->differs = !*same;
        return std::nullopt;
      });
}

CarriedGroup Doubts::carried_group(const CollatedTime& group) const {
  CarriedGroup carried{join(group.group, group.time), group.time, run_.request.settings.all_ranks, run_.request.lower};
  run_.ledger.each(carried.target, [&](const std::string& path, const Known& known) {
    if (!known.directory) carried.checksums.emplace(path, known.checksum);
    return true;
  });
  for (int rank = group.first; rank <= group.last; ++rank)
    carried.directories.emplace_back(rank, local_of(run_.roots, run_.time_directory(rank, group.time)));
  return carried;
}

bool Doubts::may_give_way(const std::string& path, const std::string& content, const Known& known) const {
  if (is_written(path) || is_written(content)) return false;
  return !run_.ledger.lost_events() || is_same(*run_.shared, content, path, known.checksum).value_or(false);
}

bool Doubts::may_give_way(const CollatedTime& group) const {
  for (int rank = group.first; rank <= group.last; ++rank)
    if (is_written(run_.time_directory(rank, group.time))) return false;
  return !run_.ledger.lost_events() || is_same(*run_.shared, carried_group(group)).value_or(false);
}

// The next walk finds what differs, since the ledger knows no local file of it any more.
void Doubts::compared(const Job& job) {
  work_.progress.last_made = run_.clock.now();
  settled_.insert(job.key);
  if (!job.prepared->differs) return run_.uncarried.gone(job.key);
  if (!job.time.empty()) {
    if (const auto group = run_.ledger.collated_of(job.rank, job.time)) work_.groups.renew(*group);
  } else if (const auto known = run_.ledger.find(job.key); known && known->on_case) {
    Identity on_case = *known->on_case;
    if (on_case.links > 1) on_case.ctime_ns = 0;  // each name that is replaced changes that of the others
    run_.record(drained_record(job.key, on_case, {}, known->checksum));
  }
}

}  // namespace forebay::drain
