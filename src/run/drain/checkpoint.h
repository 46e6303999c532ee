// Checkpoint: a directory of the case whose files are one state that the program replaces file by file (Code_Saturne
// removes each old file before it writes the new one). The states that pass through it are followed and kept aside as
// hard links (keep.h), so that a whole one is at hand whatever the program does next.
//
// A version begins when a file that belongs to the last one is replaced or removed, or when anything is written after
// the last one was whole; what is not touched then is part of it too. A version is whole when nothing of it is open,
// the program was seen at work after it had closed the last file (a program that is killed closes its files as well),
// and
//   - the program has begun the next one, or
//   - nothing has happened in the directory for a while, or
//   - every file was written anew that the program wrote for any whole version but the first (for which it also writes
//     what never changes).
// Files that are written again in place, under the same inode, are beyond this: their old content is nowhere.
// One thread at a time.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/base.h"
#include "base/clock.h"
#include "run/drain/keep.h"

namespace forebay::drain {

class Checkpoint {
 public:
  using Time = Clock::time_point;

  // `path`: the directory, relative to the case.
  Checkpoint(std::string path, Time now) : path_(std::move(path)), last_home_(now) {}
  // Versions are kept below `aside`, on the file system of the local tree. `whole`, `home`: the newest versions that a
  // dead run knew to be whole, and had carried.
  Status open(const std::string& aside, std::optional<int> whole, std::optional<int> home);
  const std::string& path() const { return path_; }

  // What the program did to a file, by its path in the directory, in the order in which it happened. `local`: where the
  // file is.
  void made(const std::string& file);
  Status closed(const std::string& file, const std::string& local, Time now);
  void removed(const std::string& file);
  // All that had happened when the events in hand were read is handled.
  void all_handled();
  // True while all_handled() must be called before a version can be whole.
  bool is_unsure() const;
  // What is being written now may be cut: a full pool.
  void distrust();
  // Events were lost: nothing that follows can be told any more.
  void lose_track();
  // The file's local content is about to go, since the case has it.
  void let_go(const std::string& file);

  // Whether somebody should look now if the program is at work: once every `after`, while a version waits for it.
  bool takes_doubt(Time now, std::chrono::milliseconds after);
  // It is, and has closed its files by itself.
  void vouch();
  // The number of a version that has become whole since the last call. `quiet`: how long nothing must have happened.
  std::optional<int> newly_whole(Time now, std::chrono::milliseconds quiet);

  // The newest whole version, carried or not.
  std::optional<int> whole() const { return whole_; }
  // The same where the case does not have it yet.
  std::optional<int> to_carry() const { return whole_ == home_ ? std::nullopt : whole_; }
  // A directory that looks like the version, made of links; it stays until landed().
  Result<std::string> take(int version);
  std::set<std::string> files(int version) const;
  // What was taken is on the case, or is not to be carried any more.
  void landed(bool home, Time now);
  // When a version last reached the case.
  Time last_home() const { return last_home_; }

 private:
  struct Version {
    int number = 0;
    std::set<std::string> open, written, inherited;
    // Linked, and told of nothing since: may be a later file of that name. The value: by how many all_handled()
    // already.
    std::map<std::string, int> unsure;
    std::set<std::string> suspect;  // may be cut
    bool vouched = false;
  };

  void begin();
  void forget(const std::string& file);
  bool is_whole(const Version& version) const { return whole_ == version.number; }
  bool is_finished(const Version& version) const;
  bool has_all_that_change(const Version& version) const;
  bool is_sealed(const Version& version) const;
  void becomes_whole(const Version& version);
  void release();

  std::string path_;
  Keep keep_;
  Version current_;
  std::optional<Version> waiting_;  // finished, and left by the program, before it was vouched for
  std::optional<int> whole_, home_, taken_;
  std::set<std::string> changing_;  // written for whole versions of this run, but for the first
  bool lost_track_ = false;
  Time last_event_{}, last_home_;
  std::optional<Time> doubtful_since_;
};

}  // namespace forebay::drain
