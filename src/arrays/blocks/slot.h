// One image of a staged checkpoint, as the ranks of a node see it.
#pragma once

#include <string>

#include "arrays/blocks/team.h"
#include "base/base.h"

namespace forebay::blocks {

// Every rank of the node maps it. Room is taken before anything is stored, so that a full pool is an error and no
// signal.
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
