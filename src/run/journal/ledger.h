// The ledger: what one node knows of every path of the case that it staged, drained or saw written.
//
// It changes only by journal records, so replaying the journal of a dead run gives the ledger back. A path that is
// neither staged nor drained needs no record: the walk over the local tree finds it.
// A run may drain a million files, so what is known of one is packed: about 130 bytes, its name included.
// One thread at a time.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/journal/journal.h"
#include "run/tree/tree.h"

namespace forebay::drain {

// A local file as it was when it was drained. A file that differs has changed; Doubts tells which others may have.
struct LocalMark {
  std::uint64_t inode = 0, size = 0;
  std::int64_t mtime_ns = 0;
  std::uint32_t mode = 0;  // permission bits
  Owner owner = {};
  std::int64_t ctime_ns = 0;  // 0: not known. Not compared: another name that a file gets or loses changes it, too.
  friend bool operator==(const LocalMark& a, const LocalMark& b) {
    return a.inode == b.inode && a.size == b.size && a.mtime_ns == b.mtime_ns && a.mode == b.mode && a.owner == b.owner;
  }
};
LocalMark mark_of(const struct stat& status);

struct Known {
  std::optional<tree::Kind> staged;  // how it came into the local tree; nullopt: the program made it
  std::string link_target;           // staged or drained symbolic links
  std::uint32_t mode = 0;            // permission bits, as staged or, for what was drained, as drained
  std::optional<Identity> on_case;   // what the case holds under this path, as staged or as drained by this run
  std::optional<LocalMark> drained;  // the local version that the case holds
  std::optional<Owner> owner;        // not of what was drained: on the case, where that is known
  std::optional<tree::Copied> copy;  // of what was staged as a copy: the local file; not of what was drained since
  std::uint64_t checksum = 0;        // XXH3-64 of the content that was drained, or copied; 0: not known
  bool directory = false;
  bool deleted = false;  // removed by the program's own act
  bool evicted = false;  // replaced in the local tree by a link, to make room; the case holds it
  bool grows = false;    // was appended to on the case, which may hold more of it than is told here
};

// The sources of something, told without keeping them: how many local files, a checksum of their names and marks, and
// when the last of them was modified.
struct Sources {
  std::uint64_t files = 0, marks = 0;
  std::int64_t newest_ns = 0;
  friend bool operator==(const Sources&, const Sources&) = default;
};

// A node's group of ranks whose time was drained in the collated layout.
struct CollatedTime {
  std::string time, group;
  int first = 0, last = 0;
  Sources sources = {};
};

// The newest versions of a checkpoint (checkpoint.h) that were known to be whole, and that the case has.
struct CheckpointVersions {
  std::optional<int> whole, home;
  std::uint64_t marks = 0;  // a checksum of what the whole one's files were
};

// Whether a local file is as it was drained, or as it was copied: it still is the file that was put there, or it has
// the size, time and mode of its original.
bool is_as_known(const Known& known, const LocalMark& mark);

class Ledger {
 public:
  void apply(const Record& record);

  std::optional<Known> find(std::string_view path) const;
  // Whether the case has this file, or link, as this run brought it there.
  bool was_drained(std::string_view path) const;
  // Visits what is known of `path` and below it, parents before their children, until `visit` returns false. The ledger
  // must not change meanwhile. The path "" is the whole case.
  using Visit = std::function<bool(const std::string& path, const Known& known)>;
  void each(std::string_view path, const Visit& visit) const;
  // Visits what is known of the names right in `directory`.
  void names_in(std::string_view directory, const Visit& visit) const;
  const std::vector<CollatedTime>& collated() const { return collated_; }
  std::optional<CollatedTime> collated_of(int rank, const std::string& time) const;
  const std::set<std::string>& temporaries() const { return temporaries_; }
  // Temporary names that were about to change places with a target: ours until then, with this inode (0: never), and
  // then the target's older version, or what somebody else had put there.
  struct Replacing {
    std::string target;
    std::uint64_t inode = 0;
  };
  const std::map<std::string, Replacing>& replacing() const { return replacing_; }
  // Somebody put it on the case while the program worked, and the program was shown it.
  bool was_brought(const std::string& path) const { return brought_.contains(path); }
  // Versions that got their names on the case, or were about to, when the run was killed; as they were before.
  const std::map<std::string, Identity>& placing() const { return placing_; }
  const std::set<std::string>& complete_times() const { return complete_; }
  CheckpointVersions checkpoint(const std::string& path) const;
  // True where the program removed it, though it was neither staged nor drained under this name: a rank's directory of
  // a collated time.
  bool deleted_unknown(const std::string& path) const { return deleted_unknown_.contains(path); }
  // Emptied to make room, though neither staged nor drained under this name: such a directory.
  bool evicted_unknown(const std::string& path) const { return evicted_unknown_.contains(path); }
  bool lost_events() const { return lost_events_; }
  bool pool_was_full() const { return pool_was_full_; }
  bool ended_cleanly() const { return ended_cleanly_; }

 private:
  // The local version of a drained file has the size of the case's; where not, it is in `marks_`. No local inode: what
  // the case holds was made of several files.
  struct Packed {
    std::uint64_t inode = 0, size = 0;
    std::int64_t mtime_ns = 0, ctime_ns = 0;
    std::uint64_t local_inode = 0;
    std::int64_t local_mtime_ns = 0, local_ctime_ns = 0;
    std::uint64_t checksum = 0;
    std::uint16_t device = 0;  // in `devices_`
    std::uint16_t owner = 0;   // 1 + index in `owners_`, 0: not known
    std::uint32_t mode : 12 = 0;
    std::uint32_t links : 10 = 0;  // no more than most_links
    std::uint32_t staged : 3 = 0;  // 1 + tree::Kind, 0: the program made it
    std::uint32_t on_case : 1 = false, drained : 1 = false, other_mark : 1 = false, has_target : 1 = false,
                            directory : 1 = false, deleted : 1 = false, evicted : 1 = false;
  };
  static constexpr std::uint64_t most_links = 1023;
  using Names = std::map<std::string, Packed, std::less<>>;

  void store(const std::string& path, const Known& known);
  void erase(std::string_view path);
  Known unpacked(const std::string& path, const Packed& packed) const;
  template <class Value>
  static std::uint16_t index_of(std::vector<Value>& values, const Value& value);
  bool each_in(const std::string& directory, const Names& names, const Visit& visit) const;

  std::map<std::string, Names, std::less<>> directories_;  // directory -> name -> what is known
  std::vector<std::uint64_t> devices_;
  std::vector<Owner> owners_;
  std::map<std::string, LocalMark> marks_;
  std::map<std::string, std::string> targets_;  // of symbolic links
  std::map<std::string, Identity> placing_;
  std::map<std::string, Replacing> replacing_;
  std::vector<CollatedTime> collated_;
  std::map<std::string, CheckpointVersions> checkpoints_;
  std::set<std::string> brought_, growing_, temporaries_, complete_, deleted_unknown_, evicted_unknown_;
  bool lost_events_ = false, pool_was_full_ = false, ended_cleanly_ = false;
};

// The records, each made in one place (docs/format.md lists them).
Record staged_record(const tree::Entry& entry);
// It was not there when the run began, or not so: behind what was staged of it.
Record brought_record(const std::string& path);
Record drained_record(const std::string& path, const Identity& on_case, const LocalMark& local, std::uint64_t checksum);
// About to get its name on the case; and found under it by a resumed run: ours to replace.
Record placing_record(const std::string& path, const Identity& before);
Record placed_record(const std::string& path, const Identity& on_case);
// About to be appended to on the case, again and again.
Record growing_record(const std::string& path);
Record drained_link_record(const std::string& path, const Identity& on_case, const std::string& target);
Record drained_directory_record(const std::string& path, std::uint32_t mode, std::optional<Owner> owner = std::nullopt);
Record collated_record(const CollatedTime& collated);
Record uncollated_record(const CollatedTime& collated);  // taken back, to be carried anew
Record deleted_record(const std::string& path);          // the program removed it
Record removed_record(const std::string& path);          // the removal has reached the case
Record evicted_record(const std::string& path);
Record complete_record(const std::string& time);
Record whole_checkpoint_record(const std::string& path, int version, std::uint64_t marks);
Record carried_checkpoint_record(const std::string& path, int version);
Record temporary_record(const std::string& path, bool made);
// About to change places with `target`, and no temporary name of ours from then on.
Record replacing_record(const std::string& temporary, const std::string& target, std::uint64_t inode);
Record conflict_record(const std::string& path);
Record lost_events_record();
Record pool_full_record(const std::string& path);  // that could not be written first; empty: not known
Record ended_cleanly_record();                     // the program, with status 0; behind all that was seen of it

}  // namespace forebay::drain
