#include "arrays/blocks/staging.h"

#include <algorithm>
#include <utility>

#include "arrays/carry/carry.h"

namespace forebay::blocks {
namespace {

bool is_lost(const Status& status) {
  return !status && status.error().code == Code::lost;
}

}  // namespace

Result<std::unique_ptr<Staging>> Staging::open(const Team& team, const std::string& pool, const std::string& target) {
  auto directory = SlotDirectory::of(pool, target, team.group_of_machine());
  if (auto ok = team.agree(team.is_leader() ? directory.lock() : Status{}); !ok) return forward(ok);
  std::unique_ptr<Staging> staging(new Staging(team, std::move(directory)));
  staging->session_ = team.new_identity();
  if (auto ok = staging->resume(); !ok) return forward(ok);
  return staging;
}

Staging::~Staging() {
  (void)settle_all();  // whoever wants to know has called settle()
  if (team_.is_leader()) directory_.remove_carried();
}

void Staging::start(int slot, StagedRecord record, std::shared_future<Status> before) {
  Carrying carrying;
  carrying.waits_for_others = record.node == 0;
  auto errand = [this, slot, record = std::move(record), before = std::move(before), background = carrying.background] {
    give_way();  // or one of several ranks on few cores goes on milliseconds after the others
    if (before.valid() && !before.get() && !is_lost(before.get())) {
      return Status(error(Code::undrained, "an earlier checkpoint could not be carried, so neither can", record.path));
    }
    return carry::carry_until_done(record, directory_.image(slot), *background);
  };
  carrying.done = std::async(std::launch::async, std::move(errand)).share();
  carrying_[index(slot)] = std::move(carrying);
}

void Staging::start_again(int slot, StagedRecord record, std::shared_future<Status> before) {
  start(slot, std::move(record), std::move(before));
  carrying_[index(slot)].background->again = true;
}

Status Staging::resume() {
  bool swapped = false;  // the older one lies in slot 1
  if (team_.is_leader()) {
    const auto committed = directory_.committed();
    swapped = committed.size() == 2 && committed.front().slot == 1;
  }
  const int older = over_all(team_.all(), swapped ? 1 : 0, MPI_MAX) != 0 ? 1 : 0;
  if (auto ok = resume(older); !ok) return ok;
  return resume(1 - older);
}

Status Staging::resume(int slot) {
  Result<StagedRecord> record = error(Code::failed, "not a leader");
  std::array<std::uint64_t, 2> mine{};  // identity and number of nodes; 0: nothing here
  bool unreadable = false;
  carry::Standing standing = carry::Standing::older;
  if (team_.is_leader()) {
    record = directory_.read(slot);
    unreadable = !record && name_exists(directory_.record(slot));
    if (record) {
      mine = {record->id, static_cast<std::uint64_t>(record->nodes)};
      standing = carry::what_stands(*record);
    }
  }
  // A checkpoint that another version has staged, that version can carry.
  const bool other_version = unreadable && record.error().code == Code::conflict;
  if (auto ok = team_.agree(other_version ? Status(forward(record)) : Status{}); !ok) return ok;
  std::vector<std::array<std::uint64_t, 2>> all(index(team_.nodes()));
  if (team_.is_leader()) {
    MPI_Allgather(mine.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, team_.leaders());
  }
  const auto lowest = [&](bool here) {
    return static_cast<int>(over_all(team_.all(), index(here ? team_.rank() : team_.ranks()), MPI_MIN));
  };
  // All nodes do as the first one that has a record has seen: the file may change meanwhile.
  const int finder = lowest(record.has_value());
  standing = static_cast<carry::Standing>(
      over_all(team_.all(), team_.rank() == finder ? static_cast<int>(standing) : 0, MPI_MAX));
  bool found = false;
  const std::string path = record ? record->path : directory_.record(slot);
  if (record) {
    const auto nodes = std::count(all.begin(), all.end(), mine);
    found = standing == carry::Standing::older && static_cast<std::uint64_t>(nodes) == mine[1];
    if (found) {
      start_again(slot, std::move(*record));
    } else {
      // Nodes that are not here may still bring home what this one has told, if one of them has rank 0.
      const bool nobody_will = record->node == 0 || standing == carry::Standing::same_or_later;
      nobody_will ? directory_.give_up(slot) : directory_.forget(slot);
    }
  }
  // Nodes that have a record of it have the same one.
  taken_[index(slot)] = over_all(team_.all(), found ? 1 : 0, MPI_MAX) != 0;
  const bool carried = taken_[index(slot)] || standing == carry::Standing::same_or_later;
  if (finder < team_.ranks()) recovered_.push_back({broadcast(team_.all(), path, finder), carried});
  if (const int reader = lowest(unreadable); reader < team_.ranks())
    recovered_.push_back({broadcast(team_.all(), path, reader), false});
  Status settled = settle(slot);
  if (!is_lost(settled)) return settled;
  recovered_.back().carried = false;
  return {};
}

Status Staging::prepare(std::uint64_t node_bytes) {
  if (auto ok = settle(); !ok) return ok;
  for (int slot = 0; slot < kSlots; ++slot) {
    if (auto ok = slots_[index(slot)].reserve(team_, directory_.image(slot), node_bytes); !ok) return ok;
  }
  return {};
}

Status Staging::begin(std::uint64_t node_bytes) {
  Status before = or_go_on(settle(next_));
  if (!before && !is_lost(before)) return before;
  if (unreported_) unreported_ = std::move(before);  // the new checkpoint has nothing to do with it
  return slots_[index(next_)].reserve(team_, directory_.image(next_), node_bytes);
}

Status Staging::commit(StagedRecord record) {
  record.session = session_;
  record.sequence = sequence_++;
  Status mine;
  if (team_.is_leader()) {
    record.sidecar = carry::sidecar_of(team_.ranks(), record);
    mine = directory_.commit(next_, record);
  }
  // The program goes on only when every node has its record: a checkpoint is whole or it is none.
  if (auto ok = team_.agree(mine); !ok) return ok;
  taken_[index(next_)] = true;
  const int other = (next_ + 1) % kSlots;
  if (team_.is_leader()) {
    // Where the one before could not be carried, it is tried again ahead of this one: they may have the same name.
    if (taken_[index(other)]) (void)try_again(other);
    start(next_, std::move(record), carrying_[index(other)].done);
  }
  next_ = other;
  return {};
}

Status Staging::try_again(int slot, std::shared_future<Status> before) {
  if (carrying_[index(slot)].done.valid()) return {};
  auto record = directory_.read(slot);
  if (!record) return forward(record);
  start_again(slot, std::move(*record), std::move(before));
  return {};
}

// On leaders. A node that fails will never tell the one that waits for it, so they meet before that one waits.
Status Staging::carried(int slot) {
  Carrying& carrying = carrying_[index(slot)];
  // A program on fewer nodes may have left this node no part of its checkpoint.
  const bool mine_to_carry = carrying.done.valid() || name_exists(directory_.record(slot));
  Status mine = mine_to_carry ? try_again(slot) : Status{};
  carrying.background->no_more_tries.request_stop();  // somebody waits for it now
  const bool waits = mine && carrying.waits_for_others;
  if (mine && mine_to_carry && !waits) mine = carrying.done.get();
  meet_asleep(team_.leaders());
  const bool stopped = over_all(team_.leaders(), mine ? 0 : 1, MPI_MAX) != 0;
  carrying.background->stop = stopped;
  if (!waits) return mine;
  mine = carrying.done.get();
  const bool others_report = !mine && mine.error().code == Code::undrained && stopped;
  return others_report ? Status{} : mine;
}

Status Staging::settle(int slot) {
  if (!taken_[index(slot)]) return {};
  Status done = settle_once(slot);
  if (done || is_lost(done)) return done;
  // That may have failed long ago. A checkpoint that waits for it in the other slot fails with it, and will be begun
  // anew, too.
  const int other = (slot + 1) % kSlots;
  const Carrying waiting = std::exchange(carrying_[index(other)], {});
  waiting.background->stop = true;
  waiting.background->no_more_tries.request_stop();
  if (waiting.done.valid()) waiting.done.wait();
  return settle_once(slot);
}

Status Staging::settle_once(int slot) {
  Status mine = team_.is_leader() ? carried(slot) : Status{};
  if (!mine && !is_lost(mine)) mine.error().code = Code::undrained;  // whatever the reason, it stays in the pool
  const bool again = std::exchange(carrying_[index(slot)], {}).background->again;
  meet_asleep(team_.all());
  Status all = team_.agree(mine);
  if (!all && !is_lost(all)) return all;
  taken_[index(slot)] = false;
  if (team_.is_leader()) again || !all ? directory_.give_up(slot) : directory_.forget(slot);
  return all;
}

Status Staging::or_go_on(Status settled) {
  if (!team_.is_leader()) return settled;
  const int newer = (next_ + 1) % kSlots;
  if (taken_[index(next_)]) (void)try_again(next_);
  if (taken_[index(newer)]) (void)try_again(newer, carrying_[index(next_)].done);
  return settled;
}

Status Staging::settle() {
  return or_go_on(settle_all());
}

Status Staging::settle_all() {
  Status all = std::exchange(unreported_, {});
  for (int i = 0; i < kSlots; ++i) {  // the older one first: it must not replace the newer one
    Status done = settle((next_ + i) % kSlots);
    if (!done && !is_lost(done)) return done;
    if (all) all = std::move(done);
  }
  return all;
}

}  // namespace forebay::blocks
