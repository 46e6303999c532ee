// The commit record of a staged checkpoint: what of which image goes where in which file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::slots {

// A stretch of an array that lies whole in a node's image.
struct Extent {
  std::size_t array = 0;    // in the description
  std::uint64_t first = 0;  // byte of the array
  std::uint64_t bytes = 0;
  std::uint64_t image = 0;  // byte of the image
};

// Bytes of the file.
struct Stretch {
  std::uint64_t offset = 0;
  std::string bytes;
};

struct StagedRecord {
  std::uint64_t id = 0;        // the same on all nodes of a checkpoint, of no other checkpoint
  std::uint64_t session = 0;   // the same for all checkpoints of a program, on all nodes
  std::uint64_t sequence = 0;  // grows from checkpoint to checkpoint of a program
  std::int64_t committed = 0;  // when it was whole: nanoseconds since 1970 by this node's clock
  std::string boot;            // which start of this node's system has written the image
  int node = 0, nodes = 1;
  std::string path;             // the file's name when it is whole
  bool read_back = false;       // before it gets its name
  std::string sidecar;          // what is told about the writing, beside it
  std::string description;      // of the file, as array_file::encode tells it
  std::vector<Stretch> layout;  // what the file has besides its arrays; on the node with rank 0
  std::vector<Extent> extents;
  std::vector<std::uint64_t> sums;  // of what the image has of each array: ItemSum

  // Where the file grows until it is whole, in the same directory.
  std::string temporary() const;
  // The message of a node to the one with rank 0 when its part is carried, and of any node to the others when its part
  // is lost.
  std::string part(int of_node) const;
  // Where it stands until it is whole; always the same, so that whoever was killed there leaves nothing for long.
  std::string unfinished_part(int of_node) const { return part(of_node) + ".new"; }
};

// Removes what a node that gives a record up, or finds that it has served, has left beside the file: the one with rank
// 0 all of it, since no other node can give the file its name; another one what it told. Only the holder of the
// lock of the record's slots may call this: then nobody is about to give that name.
void clear_away(const StagedRecord& record);

// Text with a checksum; a record that does not fit is Code::lost.
std::string encode(const StagedRecord& record);
Result<StagedRecord> decode_record(const std::string& text, const std::string& path);

}  // namespace forebay::slots
