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

#include "run/drain/other_files.h"
#include "run/drain/walk.h"

namespace forebay::drain {

struct FinalOrder {
  std::map<std::string, std::uint64_t> turns = {};  // of files outside times, as events told
  std::deque<std::string> times = {};               // in the order in which they were begun
  struct Rank {
    int kind = 0;
    std::uint64_t turn = 0;
    std::int64_t changed_ns = 0;
    std::uint64_t inode = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  std::vector<std::pair<Rank, std::string>> files = {};  // found outside times, not submitted yet
  bool is_sorted = true;
  std::set<std::string> other_times = {};  // directories, likewise

  void begin(const std::map<std::string, OtherFiles::Waits>& pending);
  // `links`: links_from() of a link, else 0.
  void add(const Output& output, int links);
  // The next file or link to be submitted; nullopt: there is none left.
  std::optional<std::string> next();
};

// Whether files with such a name name others, as a rule. The name counts only where nothing else is known of the order.
bool names_others(const std::string& path);
// Where a link of this name and text leads, as a path of the case; nullopt: out of it.
std::optional<std::string> target_in_case(const std::string& path, const std::string& target,
                                          const std::string& case_path);
// How many links there are from a name to what is no link, those among the directories on the way counted.
int links_from(const std::vector<Root>& roots, const std::string& case_path, std::string path);

}  // namespace forebay::drain
