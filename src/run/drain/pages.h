// Pages: what the library wrote down of the times of this node's ranks (run/contract/pages.h). Private to the room. One
// thread at a time, beside any number of ranks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/base.h"
#include "base/mapped_file.h"
#include "run/contract/pages.h"
#include "run/core/decide.h"

namespace forebay::drain {

class Pages {
 public:
  // For so many ranks, of the whole run; made before any program begins.
  static Result<Pages> make(const std::string& path, int ranks);
  // The pages that a dead run left, of any content; nullopt where they are not ours, of another contract, or too short.
  static std::optional<Pages> left_in(const std::string& path);

  // From now on ranks go to their directories by the case's path only.
  void map_nothing() { node().renamed = 1; }
  // A rank has purged many times. Again when it goes on after `clear`.
  bool look_is_wanted() const { return node().look != 0; }
  void clear_wish(const std::vector<int>& ranks);
  // The program of this rank has ended well: it has left its last line.
  void note_ended(int rank);

  core::Page page_of(int rank) const;
  // nullopt: the line is being written, or another has its place by now. The line's mesh is known by its sequence only.
  std::optional<core::Line> line(int rank, std::uint64_t sequence) const;

 private:
  explicit Pages(MappedFile page) : page_(std::move(page)) {}
  contract::NodePage& node() const { return *reinterpret_cast<contract::NodePage*>(page_.bytes().data()); }
  contract::RankPage* of(int rank) const;  // null: it has none

  MappedFile page_;
};

}  // namespace forebay::drain
