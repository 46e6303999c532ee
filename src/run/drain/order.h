// The order in which what is left gets its names on the case at the end of a run. Private to the room.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/walk.h"

namespace forebay::drain {

class FinalOrder {
 public:
  struct Rank {
    int kind = 0;
    std::uint64_t turn = 0;
    std::int64_t changed_ns = 0;
    std::uint64_t inode = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };

  // The turns of files outside times, as events told.
  void begin(std::map<std::string, std::uint64_t> turns) { turns_ = std::move(turns); }
  // Times, in the order in which they are to be submitted.
  void set_times(const std::vector<std::string>& times) { times_.assign(times.begin(), times.end()); }
  bool has_times() const { return !times_.empty(); }
  std::string next_time();
  // A file or link outside times. `links`: links_from() of a link, else 0.
  void add(const Output& output, int links);
  // The next of these to be submitted; nullopt: there is none left.
  std::optional<std::string> next();
  // The directory of a time that is not of this node's ranks.
  void add_other_time(const std::string& directory) { other_times_.insert(directory); }
  std::set<std::string> take_other_times() { return std::exchange(other_times_, {}); }
  // A new pass finds files and other times again.
  void forget_found();

 private:
  std::map<std::string, std::uint64_t> turns_ = {};
  std::deque<std::string> times_ = {};
  std::vector<std::pair<Rank, std::string>> files_ = {};  // not submitted yet
  bool is_sorted_ = true;
  std::set<std::string> other_times_ = {};
};

// Whether files with such a name name others, as a rule. The name counts only where nothing else is known of the order.
bool names_others(const std::string& path);
// Where a link of this name and text leads, as a path of the case; nullopt: out of it.
std::optional<std::string> target_in_case(const std::string& path, const std::string& target,
                                          const std::string& case_path);
// The target of a link of the program, as a path of the case; where a directory above is a link, by that, too: each
// counts in `links`. nullopt: it is no link, leads out of the case, or through too many links.
std::optional<std::string> target_of(const std::vector<Root>& roots, const std::string& case_path,
                                     const std::string& path, int& links);
// How many links there are from a name to what is no link, those among the directories on the way counted.
int links_from(const std::vector<Root>& roots, const std::string& case_path, std::string path);

}  // namespace forebay::drain
