// Times that lie on the case as groups of ranks: what was written to them since, and what becomes of their groups.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "run/drain/state.h"
#include "run/drain/units.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {

void Groups::note_made(int first, int last) {
  const std::pair group{first, last};
  if (std::ranges::find(made_, group) == made_.end()) made_.push_back(group);
}

std::vector<std::pair<int, int>> Groups::of_ranks() const {
  std::vector<std::pair<int, int>> found;
  for (const int rank : run_.ranks) {
    if (!found.empty() && found.back().second + 1 == rank) {
      found.back().second = rank;
    } else {
      found.emplace_back(rank, rank);
    }
  }
  return found;
}

std::string Groups::path_of(int first, int last, const std::string& time) const {
  return join(openfoam::name_of_group({run_.request.settings.all_ranks, first, last}), time);
}

// A conflict: it lies beside what the case has under its name.
bool Groups::is_given_up(int rank, const std::string& time) const {
  return is_key_in(work_.not_carried.given_up, rank, time);
}

bool Groups::is_in_flight(int rank, const std::string& time) const {
  return is_key_in(work_.in_flight, rank, time);
}

// As a rank's time, or as that of its group.
bool Groups::is_key_in(const std::set<std::string>& keys, int rank, const std::string& time) const {
  if (keys.contains(run_.time_directory(rank, time))) return true;
  const auto runs = of_ranks();
  return std::ranges::any_of(runs, [&](const auto& group) {
    return group.first <= rank && rank <= group.second && keys.contains(path_of(group.first, group.second, time));
  });
}

// The files of a group that this run has carried and that changed since, as the case has them.
std::optional<std::map<std::string, Identity>> Groups::files_on_case(const std::string& target) const {
  std::map<std::string, Identity> files;
  bool staged = false;
  run_.ledger.each(target, [&](const std::string& path, const Known& known) {
    staged = staged || known.staged;
    if (!known.directory && known.on_case) files.emplace(path.substr(target.size() + 1), *known.on_case);
    return true;
  });
  if (staged || files.empty()) return std::nullopt;
  return files;
}

Result<GroupNow> Groups::inspect(const CollatedTime& group, bool must_be_sealed) const {
  GroupNow now;
  now.directories = true;
  std::vector<layouts::RankTime> ranks;
  bool evicted = false;
  for (int rank = group.first; rank <= group.last; ++rank) {
    const std::string directory = run_.time_directory(rank, group.time);
    auto rank_time = read_time(rank, local_of(run_.roots, directory), must_be_sealed, {}, run_.request.lower);
    if (!rank_time) return forward(rank_time);
    evicted = evicted || run_.ledger.evicted_unknown(directory);
    now.directories = now.directories && *rank_time && !evicted;
    if (*rank_time) ranks.push_back(std::move(**rank_time));
  }
  const Sources sources = sources_of(ranks);
  now.as_carried = sources == group.sources;
  if (now.as_carried) return now;
  const auto carried = files_on_case(join(group.group, group.time)).value_or(std::map<std::string, Identity>());
  std::uint64_t of_group = 0;
  for (const layouts::RankTime& rank_time : ranks) {
    for (const std::string& file : rank_time.files) {
      struct stat status {};
      if (::lstat(join(rank_time.directory, file).c_str(), &status) != 0) continue;
      const bool known = carried.contains(file);
      if (known) ++of_group;
      now.late = now.late || evicted || !known || mark_of(status).mtime_ns > group.sources.newest_ns;
    }
  }
  now.all_there = now.directories && of_group >= group.sources.files;
  return now;
}

// A collated time whose files were written again after it was carried, or that got more of them, is carried anew: the
// new group takes the place of the old one in one step. Not so where files are gone from here, since what the case has
// of them is all there is.
bool Groups::renew_if_changed(const CollatedTime& group, const Result<GroupNow>& now) {
  if (!now || now->as_carried || !now->all_there) return false;
  renew(group);
  return true;
}

void Groups::renew(const CollatedTime& group) {
  run_.record(uncollated_record(group));
  times_.insert(group.time);
  if (work_.drained.times.erase(group.time) != 0)
    for (const int rank : run_.ranks) work_.drained.ranks.insert({rank, group.time});
  for (int rank = group.first; rank <= group.last; ++rank) work_.drained.ranks.erase({rank, group.time});
}

// At every pass, since a group that was on its way when the program ended is known only later.
void Groups::renew_changed() {
  const std::vector<CollatedTime> collated = run_.ledger.collated();
  for (const CollatedTime& each : collated) {
    const auto now = inspect(each, false);
    if (!renew_if_changed(each, now) && now && now->as_carried && now->directories && work_.doubts.is_in_doubt(each))
      work_.doubts.compare(each);
  }
}

// When nothing more is carried: groups that are not what lies here, and could not be renewed.
void Groups::note_changed() {
  const std::vector<CollatedTime> collated = run_.ledger.collated();
  for (const CollatedTime& each : collated) {
    const auto now = inspect(each, false);
    if (renew_if_changed(each, now)) continue;  // no pass came to it: counted as undrained
    const std::string target = join(each.group, each.time);
    if (!now) {
      run_.note(Code::undrained,
                fmt::format("whether the case has all of time {} is not known: {}", each.time, now.error().text()));
    } else if (now->late) {
      run_.note(
          Code::undrained,
          fmt::format("time {} was written to after it was drained, when not all of it was here any more: what came "
                      "later is only local, in {}",
                      each.time, printable(local_of(run_.roots, run_.time_directory(each.first, each.time)))));
    } else if (now->as_carried && now->directories && work_.doubts.is_in_doubt(each)) {
      run_.note(Code::undrained,
                fmt::format("whether the case has time {} as it lies here was not compared any more", each.time));
    } else if (!now->as_carried && now->directories && run_.ended_cleanly) {
      run_.note(std::nullopt,
                fmt::format("the program removed files of time {} after it was drained: {} still has them", each.time,
                            printable(target)));
    }
  }
}

// Somebody put a file into it or changed one, or it cannot be told.
bool Groups::is_untouched(const std::string& target) const {
  bool untouched = true;
  run_.ledger.each(target, [&](const std::string& path, const Known& known) {
    if (!known.directory) {
      const auto status = run_.shared->status(path);
      untouched = status && (!*status || still_is(**status, known.on_case.value_or(Identity{})));
    } else if (const auto entries = run_.shared->list(path)) {
      untouched = std::ranges::all_of(
          *entries, [&](const DirectoryEntry& entry) { return run_.ledger.find(join(path, entry.name)).has_value(); });
    } else {
      untouched = entries.error().errno_value == ENOENT;
    }
    return untouched;
  });
  return untouched;
}

// A time that can no longer be a group was carried rank by rank, which hides the group. It goes when the ranks' own
// times are there, the whole of it or nothing.
void Groups::remove_replaced() {
  if (!run_.request.settings.collated) return;
  for (const auto& ranks : of_ranks()) {
    const int first = ranks.first, last = ranks.second;  // for the function below: clang 14 lets it take no bindings
    const std::string group(parent_of(path_of(first, last, "0")));
    std::vector<std::string> replaced;
    run_.ledger.each(group, [&](const std::string& path, const Known& known) {
      if (parent_of(path) != group || !known.directory || known.staged) return true;
      const std::string time(name_of(path));
      bool by_ranks = !run_.ledger.collated_of(first, time);
      for (int rank = first; rank <= last && by_ranks; ++rank) {
        const auto own = run_.ledger.find(run_.time_directory(rank, time));
        by_ranks = own && own->directory && !own->deleted;
      }
      if (by_ranks) replaced.push_back(path);
      return true;
    });
    for (const std::string& path : replaced) {
      const std::string reason =
          fmt::format("time {} can no longer be a group and lies on the case rank by rank, its group is still there",
                      name_of(path));
      if (!is_untouched(path)) {
        run_.note(Code::conflict,
                  fmt::format("{}; {} was changed on the case meanwhile and is kept: remove it when you "
                              "have seen what is in it, since readers do not",
                              reason, printable(path)));
      } else {
        work_.acts.remove_from_case(path, reason);
      }
    }
  }
}

// Finds groups that the journal of a dead run may not call complete. A full pool ends a journal, but the case may have
// such a group all the same. The collated layout must not have one time both as a group and rank by rank. A time that
// all ranks had left behind by two output times would have been carried as a group at the dead run's next look. If the
// program purged such a time in part, the layout refuses it, or the group has what is left, like the ranks' own times
// would.
Status Groups::find() {
  if (!run_.request.settings.collated) return {};
  std::map<std::string, std::size_t> here;  // time -> how many ranks have it
  for (const int rank : run_.ranks)
    for (const std::string& time : run_.times_here(rank)) ++here[time];
  std::vector<std::string> of_all;
  for (const auto& [time, count] : here)
    if (count == run_.ranks.size() && run_.is_new_time(run_.ranks.front(), time)) of_all.push_back(time);
  std::ranges::sort(of_all, openfoam::time_less);
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    const std::string& time = of_all[i];
    if (run_.ledger.complete_times().contains(time)) continue;
    const bool carried_by_rank = std::ranges::any_of(
        run_.ranks, [&](int rank) { return run_.ledger.find(run_.time_directory(rank, time)).has_value(); });
    if (i + 2 < of_all.size() && !carried_by_rank && !run_.ledger.pool_was_full()) {
      times_.insert(time);
      continue;
    }
    for (const auto& [first, last] : of_ranks()) {
      const auto status = run_.shared->status(path_of(first, last, time));
      if (!status) return forward(status);
      if (*status) times_.insert(time);
    }
  }
  return {};
}

}  // namespace forebay::drain
