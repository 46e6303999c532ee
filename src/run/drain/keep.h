// Keep: files of times, hard-linked aside when they are closed, so that the program's own purge cannot take the last
// complete time away. No bytes are copied; a kept time costs space only after the program has removed it.
//
// Layout: <pool run directory>/keep/processor<K>/<name>, or keep/serial/<name> for an undecomposed case, where the name
// is the flat one of "<time>/<file>" (run/contract/flat_name.h). The redirection library, where it is loaded, leaves a
// link to each file that the program removes before it is kept in <...>/handed-over/<name>, or moves what is removed as
// a whole to <...>/handed-over/<time>: so even what is deleted at once after closing is kept. One thread at a time.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/base.h"

namespace forebay::drain {

class Keep {
 public:
  // `umask`: of who runs the program; its directories have been made with it.
  explicit Keep(mode_t umask = 0022) : umask_(umask) {}

  // Makes a rank's directory, on the same file system as its local tree, and finds what a dead run kept there.
  Status add_rank(int rank, const std::string& pool_directory);
  // Links `local`, which was closed, aside; where it is gone already, takes what was handed over. False when there is
  // neither, or its name is too long to be kept.
  Result<bool> add(int rank, const std::string& time, const std::string& file, const std::string& local);
  // What the program removed before it was kept, and was not taken yet; without a `file` where it cannot be read what
  // there is of the time. Directories without files go, and so does what the library left of a copy-up (walk.h).
  struct HandedOver {
    int rank;
    std::string time, file;
  };
  Result<std::vector<HandedOver>> handed_over(int rank, std::string_view lower = {}) const;
  // It can be read, and its name is short enough to be kept.
  static bool fits(const HandedOver& handed);
  // Keeps it. False, and then it is no more, where it is no regular file, was not closed, or does not fit.
  bool take(const HandedOver& handed);
  void discard(const HandedOver& handed);
  // Only what was removed by itself, not with its time.
  void discard_alone(const HandedOver& handed);
  // The program made the file anew: what was kept is not what the time holds.
  void remove(int rank, const std::string& time, const std::string& file);

  std::vector<std::string> times() const;
  // Where a kept file is, and what it is now; nullopt when it is not kept.
  std::string path(int rank, const std::string& time, const std::string& file) const;
  std::optional<struct stat> status(int rank, const std::string& time, const std::string& file) const;
  std::optional<std::uint64_t> size(int rank, const std::string& time, const std::string& file) const;
  // Likewise, and nullopt where it has more names than so many, beside that under which it was handed over.
  std::optional<std::uint64_t> size_of_names(nlink_t most, int rank, const std::string& time,
                                             const std::string& file) const;
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
  // Something that was handed over, reached through no link: its path below that, and its name in its directory.
  struct InHands {
    Descriptor opened;
    int parent;  // `opened`, or the place's own
    std::string name, path;
    struct stat status;
    bool is_one_of_two;  // the program removed a file of this name by itself, and another with its time
  };
  static std::optional<InHands> in_hands(const Place& place, std::string path);
  static std::optional<InHands> latest_in_hands(const Place& place, const std::string& time, const std::string& file);
  static bool move_to_links(const Place& place, const InHands& found, const std::string& kept);

  mode_t umask_;
  std::map<int, Place> places_;
  std::map<std::string, std::map<int, std::set<std::string>>> times_;  // time -> rank -> files
  std::map<std::string, int> uses_;
};

}  // namespace forebay::drain
