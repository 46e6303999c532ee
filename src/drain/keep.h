// Keep: files of times, hard-linked aside when they are closed, so that the program's own purge cannot take the last
// complete time away. No bytes are copied; a kept time costs space only after the program has removed it.
//
// Layout: <pool run directory>/keep/processor<K>/<time>/<file>, or keep/serial/<time>/<file> for an undecomposed case.
// One thread at a time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::drain {

class Keep {
 public:
  // Where a rank's files are kept: on the same file system as its local tree.
  void add_rank(int rank, const std::string& pool_directory);
  // Links `local` aside. False when it was gone before it could be linked.
  Result<bool> add(int rank, const std::string& time, const std::string& file, const std::string& local);
  // The directory that mirrors <time> of this rank.
  std::string directory(int rank, const std::string& time) const;
  bool holds(int rank, const std::string& time) const;
  std::vector<std::string> times() const;
  // While a time is in use (its files are being carried) it must not be dropped; uses are counted.
  void use(const std::string& time, bool begin);
  bool in_use(const std::string& time) const { return uses_.contains(time); }
  // Lets a time go, for all ranks.
  Status drop(const std::string& time);

 private:
  std::map<std::string, int> uses_;
  std::map<int, std::string> roots_;
  std::set<std::string> made_;                                         // directories made so far
  std::map<std::string, std::map<int, std::set<std::string>>> times_;  // time -> rank -> files
};

}  // namespace forebay::drain
