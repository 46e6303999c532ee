// slots: the images of staged checkpoints that a pool holds, and the records of those that are whole.
//
//   POOL/forebay-UID/blocks-<16 digits of the target directory>-<group>/
//     lock                 held (flock) while a program uses the directory, or somebody carries what it left
//     slot-0, slot-1       images, used in turn, until the program ends
//     slot-0.record, ...   the commit record: there only while the image is whole and not yet carried
//     layout               for a moment, the file without its arrays, for the record of the node that has rank 0
//
// Promises: what is found belongs to this user; a record that is told is whole.
// Must not know: MPI, HDF5, how a file of arrays looks.
#pragma once

#include <string>
#include <vector>

#include "arrays/slots/item_sum.h"
#include "arrays/slots/record.h"

namespace forebay::slots {

constexpr int kSlots = 2;

class SlotDirectory {
 public:
  SlotDirectory() = default;
  explicit SlotDirectory(std::string path) : path_(std::move(path)) {}
  // The directory of a group of ranks of this node that writes files in `target`.
  static SlotDirectory of(const std::string& pool, const std::string& target, int group);

  const std::string& path() const { return path_; }
  std::string image(int slot) const { return join(path_, "slot-" + std::to_string(slot)); }
  std::string record(int slot) const { return image(slot) + ".record"; }
  std::string layout() const { return join(path_, "layout"); }

  // Makes the directory where it is missing, and has it until the end of this object's life; Code::busy where somebody
  // else has it.
  Status lock();
  // Whether somebody has it now.
  bool is_locked() const;

  // Makes the record of a slot, with the time and the system's start: from here on the image counts.
  Status commit(int slot, StagedRecord& record) const;
  // The record of a slot, where it is whole. Code::lost where the system was started anew since: what had not reached
  // the medium of the image is gone then, and nothing tells.
  Result<StagedRecord> read(int slot) const;
  struct Committed {
    int slot;
    Result<StagedRecord> record;  // or what is wrong with it
  };
  // Checkpoints that are whole and not yet carried, in the order in which they were written.
  std::vector<Committed> committed() const;
  // The record has served.
  void forget(int slot) const;
  // The same, and what this node has left beside the record's file goes, too (clear_away). Also where read() refuses
  // it.
  void give_up(int slot) const;
  // Gives the memory of images back to the node, but for those that have a record: they are not carried yet. The result
  // is how many there were. Where none has one, the directory goes, too, and lock() must be called again.
  int remove_carried() const;

 private:
  std::string lock_path() const { return join(path_, "lock"); }

  std::string path_;
  OwnFile lock_;
};

// The directories of this user, in these pools, each once.
std::vector<SlotDirectory> find(const std::vector<std::string>& pools);

}  // namespace forebay::slots
