// Growing files: what a program holds open and appends to (logs, histories) appears on the case while it grows, as an
// exact prefix. Only text does, since other formats come back to what they wrote. Private to the room.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "run/drain/jobs.h"
#include "run/drain/run.h"

namespace forebay::drain {

// A file of the program outside times, as it was when it was looked at last.
struct GrowingFile {
  FileId file = {};
  std::uint64_t size = 0;
  bool seen = false;        // since it was made, or begun anew
  bool was_cut = false;     // nothing of what the case has is known to be its beginning
  bool left_alone = false;  // it is no text, or was written to elsewhere than at its end: carried when it is closed
  std::optional<Tail> tail = {};  // of what the case has, as it was carried last
  std::optional<Clock::time_point> journalled = {};
  bool is_unjournalled = false;  // the ledger knows more than the journal
};

// The next act for such a file, as it is found with `size` bytes in `file`. `carried`: so many of its bytes the case
// has; nullopt: none.
enum class Growth {
  wait,    // nothing, until the next look
  anew,    // it is another one: to be looked at again before it is carried
  cut,     // likewise, since what the case has is no beginning of it any more
  begin,   // carry what there is
  append,  // carry what it has more
};
Growth growth_of(const GrowingFile& before, const FileId& file, std::uint64_t size,
                 std::optional<std::uint64_t> carried);

class GrowingFiles {
 public:
  GrowingFiles(Run& run, Work& work) : run_(run), work_(work) {}

  static constexpr std::size_t most = 8192;
  // The time that a refresh takes is a tenth of the time between two at most, so that it cannot hold up a file server.
  static constexpr int least_pause = 10;
  // But a job may have had to wait for others, or for a server that was away: a pause lasts no longer than so many
  // refreshes, or so long for each file that was carried.
  static constexpr int most_pauses = 12;
  static constexpr std::chrono::milliseconds longest_pause_of_file{100};

  // The program made it, or may open it: beyond `most` those go first that stand still.
  void note(const std::string& path);
  void forget(const std::string& path);  // and what is below it
  // To be called now and then: begins one when its time has come, and goes on with it.
  void refresh();
  // note_outcome() takes in what a job found out. job_was_tried() notes that it was tried once, with success or
  // without.
  void note_outcome(const Job& job);
  void job_was_tried();
  // The case has more of a file now: for the ledger, and from time to time for the journal.
  void record(const std::string& path, const Record& drained);
  // The growing files of which the case has a beginning.
  Growing report() const;

 private:
  void begin();
  void end_if_done();
  void look_at(const std::string& path, GrowingFile& file);
  void submit(const std::string& path, const GrowingFile& file, Growth growth, const Known* known);
  void journal(const std::string& path, GrowingFile& file);

  Run& run_;
  Work& work_;
  std::map<std::string, GrowingFile> files_ = {};  // by path in the case
  bool is_looking_ = false;                        // this refresh has not come to all of them yet
  std::size_t under_way_ = 0, submitted_ = 0;      // jobs of this refresh: not tried yet, and all
  std::string last_ = {};                          // that it looked at
  bool may_clear_ = true;                          // those that stand still may go; not again before the next refresh
  Clock::time_point began_ = run_.start, next_ = run_.start + run_.request.settings.refresh;
};

// A unit with the bytes that the case lacks of a file that grew on the case and is closed now. The case must still have
// its beginning, its mode and its owner: all of it is compared. `group`: as local_group(). `most`: bytes of the file.
// nullopt: the file is to be carried like any other, as a whole.
Result<std::optional<layouts::Unit>> remaining_part(SharedFiles& shared, const std::string& path,
                                                    const std::string& local, const Known& known,
                                                    std::optional<gid_t> group, std::uint64_t most, Prepared& prepared);

}  // namespace forebay::drain
