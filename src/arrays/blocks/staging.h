// Two slots of a node's pool, used in turn: one takes the next checkpoint while the other is carried to its file.
#pragma once

#include <array>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "arrays/blocks/slot.h"
#include "arrays/carry/carry.h"
#include "arrays/slots/slots.h"

namespace forebay::blocks {

using slots::kSlots;
using slots::SlotDirectory;
using slots::StagedRecord;

// A checkpoint that an earlier program left in the pool.
struct Recovered {
  std::string path;
  bool carried = false;  // false: a node's part of it is gone, or somebody has written a newer file of that name since
};

class Staging {
 public:
  // Collective, as is everything but data(). Whole checkpoints that a killed program left behind are carried.
  static Result<std::unique_ptr<Staging>> open(const Team& team, const std::string& pool, const std::string& target);
  // Waits as settle() does.
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // The same on every rank.
  const std::vector<Recovered>& recovered() const { return recovered_; }

  // Takes room ahead of the first checkpoint: for this many bytes of this node.
  Status prepare(std::uint64_t node_bytes);
  // The slot to be used next: waits until it is carried, and has room for this node's bytes. Where what it held is
  // lost, the next settle() says so.
  Status begin(std::uint64_t node_bytes);
  std::string layout() const { return directory_.layout(); }
  std::byte* image() { return slots_[index(next_)].data(); }
  // The image is whole: from here on the checkpoint survives the program, and is carried in the background.
  Status commit(StagedRecord record);
  // Waits until everything is carried. A checkpoint that cannot be carried remains in the pool, and is tried again in
  // the background, at the next call, at the end, and by the next program. Code::lost once for a checkpoint of which an
  // image has changed since it was staged: it is given up, and its slot is free.
  Status settle();

 private:
  Staging(const Team& team, SlotDirectory directory) : team_(team), directory_(std::move(directory)) {}
  Status settle_all();
  Status settle(int slot);
  Status settle_once(int slot);
  // Hands on what settle() of a slot has returned. A checkpoint that nobody carries then, the background tries again:
  // also after a success, which may have stopped the newer one.
  Status or_go_on(Status settled);
  Status resume();
  // A checkpoint gets its name only after the one before: they may have the same.
  void start(int slot, StagedRecord record, std::shared_future<Status> before = {});
  void start_again(int slot, StagedRecord record, std::shared_future<Status> before = {});
  Status resume(int slot);
  // Begins once more where carrying has failed.
  Status try_again(int slot, std::shared_future<Status> before = {});
  Status carried(int slot);

  const Team& team_;
  SlotDirectory directory_;
  std::array<Slot, kSlots> slots_;
  std::array<bool, kSlots> taken_{};
  struct Carrying {
    std::shared_future<Status> done;
    std::shared_ptr<carry::Background> background = std::make_shared<carry::Background>();
    bool waits_for_others = false;  // it gives the file its name
  };
  std::array<Carrying, kSlots> carrying_;  // the leader's
  int next_ = 0;
  std::uint64_t session_ = 0, sequence_ = 0;
  std::vector<Recovered> recovered_;
  Status unreported_;  // Code::lost of what begin() has found, until settle() has returned it
};

}  // namespace forebay::blocks
