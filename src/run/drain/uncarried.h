// The names of the program's files that the case does not have as they were when they were last closed. They are in no
// record of the journal, so without them nobody could tell that one of a dead run's files was removed from its pool.
//
// Kept in a file of its own in the home pool (docs/format.md), since names come and go with every file of the program:
// it is written anew, with the names that still count, when it has grown to twice as much. Where it cannot be written
// it goes, and nothing is told by it. Private to the room. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "run/drain/only_local.h"
#include "run/journal/journal.h"

namespace forebay::drain {

struct Root;

class Uncarried {
 public:
  using Names = std::map<std::string, std::set<std::string>, std::less<>>;  // by directory
  struct Contents {
    Names written;  // closed, and neither carried nor removed since
    Names missing;  // of these, what was found to be removed by something else than the program
  };

  // Opens the file; names that are noted there already count on.
  void open(const std::string& path);
  // Notes the files of a dead run that something else than the program removed as missing, and returns them.
  std::set<std::string> find_missing(const std::vector<Root>& roots, const std::vector<std::string>& placed);
  void written(const std::string& path);
  // Counts a file that was closed, `when` in seconds: for people.
  void closed(const std::string& path, std::uint64_t bytes, double when) { only_local_.closed(path, bytes, when); }
  const OnlyLocal& only_local() const { return only_local_; }
  // Carried, or removed by the program, with all that is below it.
  void gone(const std::string& path);
  // Nothing is known any more.
  void clear();
  // Writes the names that were noted since to the file.
  void flush();
  // To be called at least every two seconds while this process works on the run. The file's time of modification is
  // when a process of the run was last known to be alive.
  void tell_alive() const;

  // Empty where there is none, or none that can be believed.
  static Contents read(const std::string& path);

 private:
  void append(const std::vector<Record>& records);
  void compact();

  OnlyLocal only_local_;
  std::string path_;
  std::optional<Journal> file_;
  Names written_;               // since the last flush
  std::set<std::string> gone_;  // likewise, before `written_`
  std::uint64_t size_ = 0, compact_at_ = 0;
};

// The files among these names that something else than the program removed. `last_sign`: when a process of the run was
// last known to be alive (ns since 1970).
std::set<std::string> missing_files(const Uncarried::Contents& names, const std::vector<Root>& roots,
                                    const std::vector<std::string>& placed, std::int64_t last_sign);

}  // namespace forebay::drain
