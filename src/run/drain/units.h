// Local files and directories, on their way to becoming units. Private to the room.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/drain/jobs.h"
#include "run/drain/version.h"
#include "run/layouts/layouts.h"

namespace forebay::drain {

// One rank's time as it lies in `directory`; nullopt when it is gone (the program removed it before its turn came).
Result<std::optional<layouts::RankTime>> read_time(int rank, const std::string& directory, bool must_be_sealed,
                                                   const std::vector<std::string>& placed, const std::string& lower);
// True of what read_time() refuses since a file of it is open for writing.
bool is_still_open(const Result<std::optional<layouts::RankTime>>& read);
// To be told before the content is read: a write in between makes it differ, and the time is carried again.
Sources sources_of(const std::vector<layouts::RankTime>& ranks);
// Files that a renamed directory brought into a time.
Status use_placed(layouts::Unit& unit, const std::string& directory, const std::vector<std::string>& placed);
// A directory of the case. False: a file of that name, or of one above, is in the way: it was still coming when the
// program put a directory there.
Result<bool> make_where_missing(SharedFiles& files, const std::string& path, mode_t mode);
// The directories of the case that a file needs, parents first; they are noted in `prepared`. False as above.
Result<bool> make_parents(SharedFiles& files, const std::vector<std::pair<std::string, mode_t>>& parents,
                          Prepared& prepared);
// The unit of a file or link whose version was held, for a name that the unit may replace. Fills `prepared`.
layouts::Unit held_unit(const Version& version, const std::string& path, const std::optional<Identity>& replaces,
                        Prepared& prepared);
// Fills `prepared`. Marks are taken before the content is read: a write in between makes them differ, and the file is
// carried again.
void mark_sources(const layouts::Unit& unit, const std::string& directory, const std::vector<std::string>& placed,
                  Prepared& prepared);

}  // namespace forebay::drain
