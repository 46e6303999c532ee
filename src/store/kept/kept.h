// kept: stores of trajectories that were kept, as they lie in their directories: what they are, whether they are whole,
// and how they are removed.
//
// Promises: only remove() changes anything. No link below the directory that was named is followed. Nothing that is
// read is believed before its check fits, neither a file nor a name, and memory is bounded whatever they say. A store
// that a process uses can be listed; it is neither verified nor removed. Must not know: how a report is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/base.h"
#include "store/segment/format.h"

namespace forebay::kept {

// One directory of a store, <name>-<rank>: what one rank has on one tier.
struct Part {
  std::string path;  // for messages
  std::string pool;  // the directory in which it lies; no part of it is a link
  std::string name;  // its own, there
  Result<segment::DecodedHead> head;
  bool marked = false;           // its file "store" begins as those of forebay do
  std::uint64_t bytes = 0;       // that its files take
  std::optional<int> user = {};  // a process of this node that has it open, as far as the kernel tells

  // The name of the trajectory, without the rank.
  std::string trajectory() const { return name.substr(0, name.rfind('-')); }
};
// The one that the directory is; else those in it, by name and rank. Code::bad_input where it is no directory.
Result<std::vector<Part>> find(const std::string& directory);

// The part that cannot be read any more, in words, and the steps as far as they are known.
struct Loss {
  std::string what;
  std::vector<std::int64_t> steps;
};
struct Content {
  std::vector<std::int64_t> steps;  // each once, the lowest first, without those that are lost
  double first_time = 0, last_time = 0;
  std::uint64_t segments = 0;   // that hold steps
  std::uint64_t unchecked = 0;  // steps that have no checksum
  std::vector<Loss> losses;
};
// The content of a part of which `head` tells: its own, or that of another part of the same store where its own is
// lost. verify() reads every byte of it, list() headers only. Code::busy where a process may change it meanwhile.
Result<Content> list(const Part& part, const segment::DecodedHead& head);
Result<Content> verify(const Part& part, const segment::DecodedHead& head);

// Whether it may be removed: Code::busy where a process uses it, Code::bad_input where it is not, beyond doubt, a store
// and nothing else.
Status removable(const Part& part);
Status remove(const Part& part);

}  // namespace forebay::kept
