// Which times are complete: the state of every (rank, time) of one node, from what was seen of its files.
//
// A time of one rank is whole when all its files are closed, none was lost, and one of these holds (facts measured on
// OpenFOAM v1912: functionObjectProperties of a step is written at the start of the next one, so neither "the last
// field was closed" nor "a purge was seen" is enough):
//   - the rank has begun a later time directory, and the program cannot have removed some of this one unseen, or
//   - it has every file that the rank's previous whole time had, and the rank was seen at work after the last of them
//     was closed (a rank that is killed closes its files too), or
//   - the rank ended by itself without failure.
// A time is complete on the node when it is whole for every rank of the node.
// What was passed over is taken to have its files, closed, when its rank has gone on and it is trusted.
// Pure bookkeeping: no files, no clock. One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace forebay::drain {

class Times {
 public:
  // A rank of this node; -1 stands for the undecomposed case.
  void add_rank(int rank);

  void directory_made(int rank, const std::string& time);
  void file_made(int rank, const std::string& time, const std::string& file);
  void file_closed(int rank, const std::string& time, const std::string& file);
  // The program removed it, and it was not kept aside.
  void file_deleted(int rank, const std::string& time, const std::string& file);
  // The program removed it, but what it held when it was closed is kept aside.
  void file_purged(int rank, const std::string& time, const std::string& file);
  // Such a file was made anew: to be told before file_made(). False when there was none.
  bool purged_file_made(int rank, const std::string& time, const std::string& file);
  // The program removed files of this time before it was whole: it is complete only in what is kept aside.
  bool purged(const std::string& time) const;
  // Nothing is told of its files: that it has some is taken for granted. To be told before its rank begins another.
  void pass_over(int rank, const std::string& time);
  // What it had was seen only when the rank had begun a later time: the program may have removed some of it before. So
  // it is not whole before it is trusted.
  void suspect(int rank, const std::string& time);
  // The program had not.
  void trust(int rank, const std::string& time);
  // It has every file that the `next` has so far, and that the rank's last whole one had.
  bool has_files_of_others(int rank, const std::string& time, const std::string& next) const;
  // The file could not be kept aside or the pool was full while it was written: the time is never called complete.
  void spoil(int rank, const std::string& time);
  // Everything that is not yet whole is spoiled (a full pool).
  void spoil_open();
  void rank_ended(int rank, bool cleanly);
  // The rank was at work well after what was told so far: its files were closed by itself.
  void vouch(int rank);
  // True when vouch() would make the rank's time whole.
  bool needs_voucher(int rank) const;

  // Of this time of the rank, closed or not.
  std::vector<std::string> files(int rank, const std::string& time) const;
  bool is_closed(int rank, const std::string& time, const std::string& file) const;
  // Told to be made, and not to be closed.
  bool is_open(int rank, const std::string& time, const std::string& file) const;
  // The time that the rank has begun last; empty before the first.
  const std::string& current(int rank) const;
  // The last time that all ranks have begun; empty before the first.
  std::string begun_by_all() const;
  // Of every rank it has the files that the rank's last whole time had, closed or not, and is not known to lack any.
  bool has_all_files(const std::string& time) const;
  bool whole(int rank, const std::string& time) const;
  // Passed over, spoiled or forgotten: what is told of its files makes it no more complete.
  bool is_hopeless(int rank, const std::string& time) const;
  // Complete over the ranks of this node.
  bool complete(const std::string& time) const;
  // In the order in which they were begun.
  std::vector<std::string> all() const;
  // The times that have become complete since the last call, in that order. Costs nothing when there are none.
  std::vector<std::string> take_newly_complete();
  // True when `a` was begun before `b`; where one of them is not known (any more), when it is the smaller number.
  bool before(const std::string& a, const std::string& b) const;
  // A number that grows with every time begun and is the same on all nodes, whose ranks begin the same times.
  std::size_t order(const std::string& time) const;
  const std::vector<int>& ranks() const { return ranks_; }
  // Lets all but the order of a complete time go, and that it is complete.
  void compact(const std::string& time);
  // Forgets a time altogether.
  void forget(const std::string& time);
  // Forgets those times begun before `time` that can never be complete; of those that once were, not the order.
  void forget_spoiled_before(const std::string& time);

 private:
  struct RankTime {
    std::set<std::string> open, closed, purged;
    bool passed_over = false;
    bool spoiled = false, suspect = false, followed = false, vouched = false, whole = false;
  };
  struct Time {
    std::size_t order = 0;
    bool taken = false;    // by take_newly_complete
    bool compact = false;  // complete, and of its ranks only what was told later is kept
    std::map<int, RankTime> ranks;
  };
  RankTime& at(int rank, const std::string& time);
  const RankTime* find(int rank, const std::string& time) const;
  void note_if_whole(int rank, const std::string& time, RankTime& rank_time);
  bool has_files_of_last(int rank, const RankTime& rank_time) const;
  const RankTime* current_files(int rank) const;

  std::vector<int> ranks_;
  std::map<std::string, Time> times_;
  std::map<int, std::string> current_;               // the time a rank began last
  std::map<int, std::set<std::string>> last_files_;  // of the rank's last whole time
  std::size_t next_order_ = 0;
  std::vector<std::string> candidates_;  // may have become complete
  std::set<std::string> spoiled_;        // can never be
};

}  // namespace forebay::drain
