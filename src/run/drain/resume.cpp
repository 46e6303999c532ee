// A Drain from what a dead one left: its journal, what it kept aside, and the local trees.
#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "run/drain/state.h"
#include "run/drain/units.h"
#include "run/layouts/layouts.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {

// The journal may end before it calls a time complete. But in the collated layout no time may lie on the case both as a
// group and rank by rank, and the group may be there all the same (a full pool ends a journal). And what all ranks had
// left behind by two times the dead run would have carried as a group, as soon as it had looked again; if it was purged
// in part, the layout refuses it, or it is a group of what is left, like the ranks' own times would be.
Status Drain::State::find_groups() {
  if (!request.settings.collated) return {};
  std::map<std::string, std::size_t> here;  // time -> how many ranks have it
  for (const int rank : times.ranks())
    for (const std::string& time : times_here(rank)) ++here[time];
  std::vector<std::string> of_all;
  for (const auto& [time, count] : here)
    if (count == times.ranks().size() && is_new_time(times.ranks().front(), time)) of_all.push_back(time);
  std::sort(of_all.begin(), of_all.end(), openfoam::time_less);
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    const std::string& time = of_all[i];
    if (ledger.complete_times().contains(time)) continue;
    const bool carried_by_rank = std::any_of(times.ranks().begin(), times.ranks().end(), [&](int rank) {
      return ledger.find(time_directory(rank, time)).has_value();
    });
    if (i + 2 < of_all.size() && !carried_by_rank && !ledger.pool_was_full()) {
      times_of_groups.insert(time);
      continue;
    }
    for (const auto& [first, last] : groups_of_ranks()) {
      const auto status = shared->status(group_target(first, last, time));
      if (!status) return forward(status);
      if (*status) times_of_groups.insert(time);
    }
  }
  return {};
}

Result<std::unique_ptr<Drain>> Drain::resume(const DrainRequest& request, const std::vector<Root>& roots,
                                             const std::vector<int>& ranks) {
  auto state = std::make_unique<State>(request);
  const std::string path = join(request.home, "journal");
  if (auto replayed = Journal::replay(path, [&](const Record& entry) { state->ledger.apply(entry); }); !replayed)
    return forward(replayed);
  // The case itself was staged first. Since then it may have been mounted anew, under another device number.
  const auto itself = state->ledger.find("");
  auto shared =
      open_shared(request.case_path, Resolve::by_kernel,
                  itself && itself->on_case ? std::optional(itself->on_case->device) : std::nullopt, request.linked);
  if (!shared) return forward(shared);
  state->shared = std::move(*shared);
  auto journal = Journal::open(path, request.durable);
  if (!journal) return forward(journal);
  state->journal.emplace(std::move(*journal));
  state->roots = roots;
  for (const int rank : ranks) {
    state->times.add_rank(rank);
    const std::string local = local_of(roots, state->time_directory(rank, "x"));
    for (const Root& root : roots)
      if (is_below(local, root.local))
        if (auto kept = state->keep.add_rank(rank, root.pool); !kept) return forward(kept);
  }
  if (auto opened = state->open_checkpoints(); !opened) return forward(opened);
  if (state->ledger.pool_was_full()) state->trouble = graver(state->trouble, Code::pool_full);
  // Files that got their names just before the run was killed are its own.
  const auto placing = state->ledger.placing();
  for (const auto& [place, before] : placing) {
    const auto status = state->shared->status(place);
    if (!status) return forward(status);
    if (!*status) continue;
    const Identity now = identity_of(**status);
    if (now.inode == before.inode && now.size == before.size && now.mtime_ns == before.mtime_ns)
      state->record(placed_record(place, now));
  }
  if (auto found = state->find_last_times(true); !found) return forward(found);
  // What ranks have left the page of the times tells: there it is known of which a write failed.
  state->failed_writes = FailedWrites::left_in(join(request.home, failed_writes_name));
  state->note_failed_writes();
  if (auto found = state->find_groups(); !found) return forward(found);
  // Half-written files that the dead run left on the case: only names that its journal knows.
  const std::set<std::string> stale = state->ledger.temporaries();
  for (const std::string& temporary : stale) {
    if (auto removed = remove_temporary(*state->shared, temporary); !removed) {
      state->note(std::nullopt, "left behind by the dead run: " + removed.error().text());
    } else {
      state->record(temporary_record(temporary, false));
    }
  }
  state->mover = make_mover(request, *state->shared, *state->journal, state->temporaries);
  return std::unique_ptr<Drain>(new Drain(std::move(state)));
}

}  // namespace forebay::drain
