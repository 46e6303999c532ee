// The pool's side of `staged`: a directory of this node's ranks, and the memory in it that keeps their blocks.
//
//   POOL/forebay-UID/blocks-<16 digits of the target directory>-<group>/
//     lock                 held (flock) while a program uses the directory
//     slot-0, slot-1       images, used in turn, until the program ends
//     slot-0.layout, ...   the file without its arrays, on the node that has rank 0
//     slot-0.record, ...   the commit record: there only while the image is whole and not yet carried
#pragma once

#include <string>

#include "blocks/mapped_file.h"
#include "blocks/team.h"

namespace forebay::blocks {

constexpr int kSlots = 2;

class SlotDirectory {
 public:
  // Collective; Code::busy where another program that writes to `target` has it.
  static Result<SlotDirectory> open(const Team& team, const std::string& pool, const std::string& target);

  std::string image(int slot) const { return join(path_, "slot-" + std::to_string(slot)); }
  std::string layout(int slot) const { return image(slot) + ".layout"; }
  std::string record(int slot) const { return image(slot) + ".record"; }
  // Gives the memory of images back to the node, but for those that have a record: they are not carried yet.
  void remove_carried() const;

 private:
  std::string path_;
  Descriptor lock_;  // the leader's
};

// One image, mapped by every rank of the node. Room is taken before anything is stored, so that a full pool is an
// error and no signal.
class Slot {
 public:
  // Collective over the team, which shares the error; content is lost where it grows. The bytes of a node are its own.
  Status reserve(const Team& team, const std::string& path, std::uint64_t bytes);
  std::byte* data() const { return image_.bytes().data(); }

 private:
  Status map(const Team& team, const std::string& path, std::uint64_t bytes);

  MappedFile image_;
  bool made_ = false;
};

}  // namespace forebay::blocks
