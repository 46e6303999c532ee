// Checkpoint: a directory of the case whose files are one state that the program writes again and again.
//
// Somebody looks at it now and then (checkpoints.h). A version is what two looks in a row found alike, where no file
// was open for writing at either, and the program was seen at work after the second: a program that is killed closes
// its files as well. It is kept aside as hard links until the case has it or a later one is found. A file that the
// program then writes again in place changes what is kept, and its mark with it: such a version is none any more. One
// thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/base.h"
#include "base/clock.h"
#include "run/journal/ledger.h"

namespace forebay::drain {

// The files and links in a directory, by their paths in it. A file that the case has too, also one that a link stands
// for, has the mark with which it was carried, or an empty mark.
using Marks = std::map<std::string, LocalMark>;
std::uint64_t checksum_of(const Marks& marks);

// The directory in which a version is kept.
std::string version_directory(const std::string& aside, int version);

class Checkpoint {
 public:
  using Time = Clock::time_point;

  // `path`: the directory, relative to the case. Versions are kept below `aside`, on the file system of the local tree.
  // `before`: what a dead run knew.
  Checkpoint(std::string path, std::string aside, const CheckpointVersions& before, Time now)
      : path_(std::move(path)), aside_(std::move(aside)), whole_(before.whole), home_(before.home), last_home_(now) {}
  const std::string& path() const { return path_; }

  // True once every `interval`.
  bool is_to_be_looked_at(Time now, Clock::duration interval);
  // Takes in what a look found in the directory `local`. `found` is nullopt where a file was open for writing, or not
  // all could be looked at.
  void looked(std::optional<Marks> found, const std::string& local);
  // The pool is full, so each file of `there` that no version holds may be cut. The file stays suspect when the program
  // writes to it again.
  void distrust(const Marks& there, const std::string& local);
  // Whether somebody should see now if the program is at work; told once for each look.
  bool takes_doubt();
  // It is, and a version was found, which the last look has told.
  bool is_found() const { return found_twice_; }
  const Marks& last_look() const { return *last_; }

  // Links what was found aside, from the directory `local`. The links are to be looked at before they are believed.
  Status keep(const std::string& local);
  // They are what was found: the newest whole version.
  int becomes_whole();
  int next() const { return whole_.value_or(0) + 1; }
  // The newest whole version, carried or not.
  std::optional<int> whole() const { return whole_; }
  // The same where the case does not have it yet.
  std::optional<int> to_carry() const { return whole_ == home_ ? std::nullopt : whole_; }
  const Marks& marks() const { return marks_; }
  // Takes over the marks of the version that a dead run kept.
  void set_marks(Marks marks) { marks_ = std::move(marks); }
  std::string directory(int version) const { return version_directory(aside_, version); }

  // It is being carried, and stays until landed().
  void take(int version) { taken_ = version; }
  void landed(bool home, Time now);
  // The program wrote to a file of the version that is to be carried: there is none but that of the case.
  void spoiled();
  // The moment at which a version last reached the case.
  Time last_home() const { return last_home_; }

 private:
  // A file, also where its inode has had another one before.
  using Birth = std::pair<std::uint64_t, std::int64_t>;
  static Birth birth_of(const std::string& local);
  bool is_held(const Marks::value_type& file) const;
  void release();

  std::string path_, aside_;
  std::optional<int> whole_, home_, taken_;
  Marks marks_;                // of the newest whole version
  std::optional<Marks> last_;  // what the last look found
  bool found_twice_ = false, is_doubtful_ = false;
  std::set<Birth> cut_;  // of files that may be cut
  std::set<int> kept_;   // versions that have a directory
  Time last_home_, next_look_{};
};

}  // namespace forebay::drain
