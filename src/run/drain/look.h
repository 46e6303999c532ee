// Look: what there is of the times of one rank now (docs/design.md, "Facts at rest", S4). The page is read, then the
// names in the tree, then those that the program has purged, then the page again. Private to the room. One thread at a
// time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "run/core/decide.h"
#include "run/drain/pages.h"
#include "run/drain/run.h"
#include "run/openfoam/cut_file.h"

namespace forebay::drain {

// In a pool's directory of the run: what ranks have purged, a directory for each (run/contract/kept_name.h), and what
// is carried under names that nobody else takes away.
std::string kept_in(const std::string& pool_directory);
std::string held_in(const std::string& pool_directory);
// The prefix of an entry of a kept directory that is being removed.
inline constexpr const char* freed_prefix = "free-";
std::string name_of_line(const core::LineId& line);

// One entry there: a line as a whole, or one file of it.
struct KeptEntry {
  core::Line line;  // its mesh by sequence only
  std::string path;
  bool is_directory = false;
  std::string file;  // below its time; empty: all of it
};
std::vector<KeptEntry> entries_kept(const std::string& kept);

struct TimeFile {
  std::string path;  // where it lies
  LocalMark mark;
  bool is_link = false;  // that stands for what the case has
};
using TimeFiles = std::map<std::string, TimeFile>;  // by name in the time
// Where files of a time have other names that are ours: purged, held, or in the tree.
using OwnNames = std::map<std::string, std::vector<std::string>>;
// The case has these files of a directory as they lie here.
bool are_home(const Ledger& ledger, const std::string& directory, const TimeFiles& files);

struct RankTimesFound {
  core::RankLook look;
  std::map<core::LineId, TimeFiles> files;              // of the lines in `look`
  std::map<core::LineId, core::Line> passed_over = {};  // that stand in the tree, or could not be listed
  std::uint64_t left_before = 0;                        // the newest line that the rank had left at the last look
  std::uint64_t unseen = 0;  // of those that it left since: what had neither files nor a directory any more
};

class Look {
 public:
  using Version = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t>;  // inode, size, two times

  explicit Look(Run& run) : run_(run) {}

  // A rank of this node, and where what it purges goes; empty: it has no pool any more.
  void add_rank(int rank, std::string kept) { kept_[rank] = std::move(kept); }
  const std::string& kept(int rank) const { return kept_.at(rank); }
  // The program of this rank has ended well: it has left its last line.
  void note_ended(int rank);
  // Tells whether a pool is full at this date (in nanoseconds, like those of files). The agent calls it now and then.
  // Files that a rank without a library writes while a pool is full may be cut. The page tells of the other ranks'
  // failed writes.
  void pool_is_full(bool now, std::int64_t date);
  // A pool was full. The library tells of which lines a write failed; where there is none nobody knows.
  void distrust_unwritten();
  // The rank has begun a later time, as far as is known.
  bool has_left(int rank, const std::string& time);
  // A file of it may be cut, as far as is known.
  bool is_cut(int rank, const std::string& time);
  // The times of this rank. Lines before `first` are passed over where they stand in the tree, but for meshes of later
  // ones.
  RankTimesFound at(int rank, std::uint64_t first);
  // A file of the start time, which tells how those of its name end.
  void learn(const std::string& time, const openfoam::Endings& endings) { habits_.add(time, endings); }
  bool knows(const std::string& name) const { return habits_.knows(name); }

 private:
  struct Known {
    bool closed = false;    // when its time had been left
    bool was_read = false;  // so that its ending is known
    openfoam::Ending ending = openfoam::Ending::plain;
  };
  // The lines of a rank that has no library, or none that tells of times: what stands in its directory.
  struct Unwritten {
    std::uint64_t begun = 0, states = 0;
    bool ended = false;
    std::map<std::string, std::uint64_t> inodes = {};    // of the times that stand there
    std::map<std::string, std::size_t> times_made = {};  // how often each was
    std::vector<core::Line> lines = {};
    std::map<std::uint64_t, std::int64_t> made = {};  // when each line's directory was
  };

  core::Page page_of(int rank);
  std::vector<core::Line> lines_of(int rank);
  std::optional<core::Line> newest_line(int rank, const std::string& time);
  bool may_be_cut(int rank, const TimeFile& file) const;
  void find_unwritten(int rank);
  void distrust_changed(int rank, RankTimesFound& found) const;
  RankTimesFound look_once(int rank, std::uint64_t first);
  // `was_newest`: the newest lines of times that the page tells of.
  void find_kept(int rank, const std::map<std::string, std::uint64_t>& was_newest, RankTimesFound& found);
  void judge_files(int rank, RankTimesFound& found);
  // `left`: nobody is about to open it any more.
  core::FileFacts facts_of(int rank, const std::string& name, const TimeFile& file, bool left,
                           const std::map<Version, Known>& before, std::map<Version, Known>& now) const;

  Run& run_;
  std::map<int, std::string> kept_ = {};
  std::map<int, Unwritten> unwritten_ = {};
  // The numbers of the lines of times that no library tells of. All ranks have the same numbers.
  std::map<std::string, std::vector<std::uint64_t>> numbers_ = {};
  std::uint64_t last_number_ = 0;
  std::map<int, std::map<core::LineId, core::Line>> lines_ = {};  // that had files when they were looked at last
  std::vector<std::pair<std::int64_t, std::int64_t>> full_ = {};  // when a pool was: from and to
  std::int64_t had_room_at_ = 0;
  std::map<int, std::uint64_t> looked_at_ = {}, left_ = {};  // the newest line then, and the newest that was left
  std::map<int, std::map<Version, Known>> known_ = {};       // closed files, as they were when they were looked at
  openfoam::Habits habits_ = {};                             // how files end
  std::set<std::pair<int, core::LineId>> told_ = {};         // lines that told of that
};

}  // namespace forebay::drain
