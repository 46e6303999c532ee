// Locks of files (flock): taken, and who has them.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/error.h"

namespace forebay {

// Takes the lock of a file for as long as the descriptor is open; false where another process holds it. Some shared
// file systems are mounted without locks: nobody is kept out there.
// `shared`: with others who take it so.
Result<bool> take_lock(int fd, const std::string& path_for_errors, bool shared = false);
// Locks a file whose lock is an OwnFile's. A child that was just forked from a process that is gone has its lock until
// it runs for the first time: where no living process of this node holds the lock this waits, for 5 s at most.
Result<bool> take_own_lock(int fd, const std::string& path_for_errors, bool shared = false);

// Which living process of this node took the lock of which file, as the kernel tells: asking for the lock itself would
// keep a process out that opens the file in this moment.
class LockHolders {
 public:
  LockHolders();
  std::optional<int> of(const struct stat& file) const;

 private:
  std::multimap<std::tuple<unsigned, unsigned, std::uint64_t>, int> holders_;
};

}  // namespace forebay
