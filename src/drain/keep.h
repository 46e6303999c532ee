// Keep: files of times, hard-linked aside when they are closed, so that the program's own purge cannot take the last
// complete time away. No bytes are copied; a kept time costs space only after the program has removed it.
//
// Layout: <pool run directory>/keep/processor<K>/<name>, or keep/serial/<name> for an undecomposed case, where <name>
// is
// "<time>/<file>" with '/' and '%' written as %2F and %25. Flat, since making and removing directories would cost as
// much as the links, in the middle of the program's time step. The redirection library, where it is loaded, leaves a
// link to each file that the program removes before it is kept in <...>/handed-over/<name>: so even what is deleted at
// once after closing is kept. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::drain {

class Keep {
 public:
  // Makes a rank's directory, on the same file system as its local tree, and finds what a dead run kept there.
  Status add_rank(int rank, const std::string& pool_directory);
  // Links `local`, which was closed, aside; where it is gone already, takes what was handed over. False when there is
  // neither, or its name is too long to be kept.
  Result<bool> add(int rank, const std::string& time, const std::string& file, const std::string& local);
  // What the program removed before it was kept, and was not taken yet.
  struct HandedOver {
    int rank;
    std::string time, file;
  };
  std::vector<HandedOver> handed_over(int rank) const;
  // Keeps it. False, and then it is no more, where it is no regular file or was not closed.
  bool take(const HandedOver& handed);
  void discard(const HandedOver& handed);
  // The program made the file anew: what was kept is not what the time holds.
  void remove(int rank, const std::string& time, const std::string& file);

  std::vector<std::string> times() const;
  // Where a kept file is, and its size now; nullopt when it is not kept.
  std::string path(int rank, const std::string& time, const std::string& file) const;
  std::optional<std::uint64_t> size(int rank, const std::string& time, const std::string& file) const;
  bool contains(int rank, const std::string& time, const std::string& file) const;
  std::set<std::string> files(int rank, const std::string& time) const;
  // A directory that looks like the rank's time, made of links to what is kept.
  Result<std::string> as_directory(int rank, const std::string& time);
  // While a time is in use (its files are being carried) it must not be dropped; uses are counted.
  void use(const std::string& time, bool begin);
  bool in_use(const std::string& time) const { return uses_.contains(time); }
  // Lets a time go, for all ranks.
  Status drop(const std::string& time);

 private:
  struct Place {
    std::string path, directories;  // where the links are, and where as_directory makes its images
    Descriptor links, handed_over;
  };

  std::map<int, Place> places_;
  std::map<std::string, std::map<int, std::set<std::string>>> times_;  // time -> rank -> files
  std::map<std::string, int> uses_;
};

}  // namespace forebay::drain
