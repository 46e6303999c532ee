// Hold: ranks that have the redirection library loaded keep the newest complete time themselves. They link or move what
// they purge into keep.h's `handed-over`, and free what is older than the last time that all of them have left. The
// agent then need not see every time: it looks from time to time, and tells the ranks to free nothing while it does.
//
// Why nothing is lost: a rank has written a time before it leaves it, that is, begins another. So a time that all ranks
// have left is complete, and each rank frees only what is older, and only where a time up to that one that it has
// handed over has files of the same names (a time with other files need not be one to restart from). While a look lasts
// nothing more is freed, but by a rank that was just doing so; that frees what was older than a time that all ranks had
// left before the look began, since it reads what they have left before it asks whether it may. So of the newest time
// that all ranks have left when a look begins, and of those after it, the look finds every file. What a rank cannot
// keep it says (may_lack). Older times may be gone then, if that happens for the first time: what ranks left was whole,
// and could not be kept when it was purged. From then on they free older times with the next purge only, when they
// know. (Of what was purged as a whole the agent finds it out, while there is one, and then lets them free nothing any
// more.)
//
// The file: run/contract/pages.h. Times are compared by the value of their names, as ranks do. One thread at a
// time, beside any number of ranks.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/base.h"
#include "base/mapped_file.h"
#include "run/contract/pages.h"

namespace forebay::drain {

class Hold {
 public:
  // For so many ranks, of the whole run. They free nothing before the first look has ended.
  static Result<Hold> make(const std::string& path, int ranks);
  Hold(Hold&&) = default;
  Hold& operator=(Hold&&) = delete;
  ~Hold();

  // One of these, on this node: to be told before it begins.
  void add_rank(int rank);

  // From now on ranks go to their directories by the case's path only.
  void map_nothing() { words()[contract::hold_renamed] = 1; }

  // From now on, until end_look() lets them.
  void free_nothing() { words()[contract::hold_held] = 1; }
  void begin_look();
  // `let`: ranks free what they may until the next look.
  void end_look(bool let);

  // The last look has let them, even though free_nothing() was said since.
  bool let() const { return let_; }
  // Let, and all of them tell what they leave: a static program, which has no library, does not.
  bool ranks_keep() const;
  // When this look began all ranks had left a newer time: they may have freed what they purged of this one, or will.
  bool may_be_freed(const std::string& time) const;
  // The rank has left this time, and every file of it is where it was written, handed over, or kept.
  bool keeps(int rank, const std::string& time) const;
  // A rank could not hand a file of this time over, or found the pool full when it had written it.
  bool may_lack(const std::string& time) const;

 private:
  explicit Hold(MappedFile page) : page_(std::move(page)) {}
  std::atomic<std::uint64_t>* words() const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(page_.bytes().data());
  }

  MappedFile page_;
  std::vector<std::size_t> lines_;  // of the ranks here
  bool let_ = false;
  std::optional<double> complete_;  // when this look began
};

// From the file that a dead run left: which of these times all these ranks have left, and lack nothing of. (They may
// have freed files of older ones.)
std::set<std::string> left_by_all(const std::string& path, const std::vector<int>& ranks,
                                  const std::set<std::string>& times);

}  // namespace forebay::drain
