// Room in the pools: what is drained is replaced by links. Private to the room.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/run.h"

namespace forebay::drain {

// A file whose place a link has taken. A process that found its name before then and opens it to write waits for the
// lease, and so is seen: the file gets its name back. The memory goes when nobody can be about to open the file any
// more.
struct Replaced {
  std::string path;     // on the case
  std::string aside;    // bears what had the name: the file, or the link to a placed one
  std::string content;  // the placed file; or `aside`
  LocalMark mark;
  std::uint64_t bytes;
  Clock::time_point since;
  Descriptor file;  // has the lease
  bool is_leased;
};

class Eviction {
 public:
  Eviction(Run& run, Work& work) : run_(run), work_(work) {}

  // A job has ended: there may be something to evict again.
  void note_job_ended() { nothing_to_evict_.clear(); }
  // A file or link was moved from its name here: its event is still to come.
  void note_own_move(const std::string& path) { own_moves_.insert(path); }
  void forget_own_moves() { own_moves_.clear(); }
  // The memory of files below `directory` is about to be given up.
  bool is_replacing(const std::string& directory) const;
  bool is_replacing() const { return !replaced_.empty(); }
  bool is_busy() const { return replaced_.size() >= most_replaced; }
  bool has_nothing_in(const std::string& pool) const { return nothing_to_evict_.contains(pool); }
  std::string evictable(const std::string& path, const Known& known, const std::string& pool) const;
  // `newest`: a time that may still get files.
  std::uint64_t evict_carried(std::uint64_t wanted, const std::string& pool, const std::optional<std::string>& newest);
  // Gives up the memory of files that were replaced long enough ago, or gives the name back to those that somebody
  // opens.
  void let_go();
  void give_back_left();
  bool takes_own_move(const std::string& path);

 private:
  // A process that has found a name opens it so soon, unless the machine stands still.
  static constexpr std::chrono::milliseconds longest_to_open{20};
  // Each has a descriptor. More than any shared file system takes files in that time.
  static constexpr std::size_t most_replaced = 256;

  std::uint64_t evict_files(std::uint64_t wanted, const std::string& pool);
  void list_candidates(std::uint64_t wanted, const std::string& pool);
  std::string aside_of(const std::string& path) const;
  bool replace(const std::string& path, const std::string& content);
  void give_back(const Replaced& file);
  bool exchange(const std::string& path, const std::string& aside);
  std::uint64_t evict_group(const CollatedTime& group, const std::string& pool);

  Run& run_;
  Work& work_;
  std::set<std::string> nothing_to_evict_ = {};  // pools without files that the case has too, as long as no job ends
  std::set<std::string> changed_groups_ = {};    // on the case, that are not as they lie here: they stay until the end
  std::deque<std::pair<std::string, std::string>> candidates_ = {};  // path on the case, where the content lies
  std::string candidates_in_ = {};                                   // the pool that they lie in
  std::vector<Replaced> replaced_ = {};
  std::multiset<std::string> own_moves_ = {};
};

}  // namespace forebay::drain
