// The world that the rules are tried in: pools of nodes, pages of ranks, the case, and the record of all that really
// happened.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "run/core/decide.h"

namespace forebay::simulator {

using core::LineId;
using core::Names;
using core::Rank;
using core::StateId;
using core::Ticks;

inline const std::string mark = "uniform/time", mesh_file = "polyMesh/faces", cloud_file = "lagrangian/cloud",
                         properties = "uniform/props";
// What the program needs to start again, and what a full state has.
inline const Names state_names{"U", "p", mark, "phi"};

// An invariant does not hold.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One mistake may be planted: `wrong("x")` is one wrong line of the world.
void plant(std::string mistake);
bool wrong(const char* mistake);

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double draw() { return std::uniform_real_distribution<double>()(engine_); }
  bool chance(double probability) { return draw() < probability; }
  int below(int limit) { return static_cast<int>(draw() * limit); }
  int between(int low, int high) { return low + below(high - low); }  // high excluded
  template <class Value>
  Value pick(std::initializer_list<Value> values) {
    return values.begin()[below(static_cast<int>(values.size()))];
  }
  template <class List>
  void shuffle(List& list) {
    for (std::size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[static_cast<std::size_t>(below(static_cast<int>(i)))]);
  }

 private:
  std::mt19937_64 engine_;
};

using Bytes = std::vector<std::int64_t>;  // a stamp for each part that was written

struct File {
  Bytes bytes;
  int writers = 0;
  bool named = true;
  int holds = 0;  // open descriptors of the agent
  Ticks modified = 0;
  bool torn = false;
};
using FilePointer = std::shared_ptr<File>;
using Directory = std::map<std::string, FilePointer>;
using DirectoryPointer = std::shared_ptr<Directory>;

// What a library writes into the page of one rank directory; it outlives processes and dies with the pool.
struct RankPage {
  core::Page words;
  std::map<LineId, core::Line> lines;
  std::map<std::string, std::uint64_t> newest;  // line of each time
  std::optional<LineId> mesh;

  bool is_newest(const LineId& line) const {
    const auto found = newest.find(line.time);
    return found != newest.end() && found->second == line.sequence;
  }
};

struct RankDirectory {
  std::map<std::string, DirectoryPointer> tree;
  std::map<LineId, DirectoryPointer> kept;
  RankPage page;
};

using Visit = std::pair<int, std::uint64_t>;             // (run, sequence): whose name a directory of the case is
using PathInRank = std::pair<std::string, std::string>;  // (time, name)
using Epoch = std::pair<int, int>;                       // (node, how many agents it has had)

// A file as it is known by its identity.
struct TakenFile {
  FilePointer file;
  Ticks modified;
  bool operator==(const TakenFile&) const = default;
};
struct LookedFile {
  TakenFile file;
  Bytes bytes;
};
struct Taken {
  LineId line;
  std::map<PathInRank, TakenFile> files;
};

// A rename on the shared file system that was asked for and has not been answered.
struct Rename {
  Epoch epoch;
  Rank rank;
  std::string time;
  Visit visit;
  bool beside;
  std::string name;
  Bytes bytes;
};

struct Name {
  Rank rank;
  std::string time, name;
  auto operator<=>(const Name&) const = default;
};

struct Node {
  int number = 0;
  std::vector<Rank> ranks;
  int capacity = 0, used = 0;  // capacity 0: no end
  std::set<Rank> dead;
  std::map<Rank, RankDirectory> directories;
  core::Ledger ledger;
  std::set<std::pair<Rank, LineId>> gone;  // journalled as purged
  bool done = false;
  core::Reports heard;
  std::set<Name> deleted;
  std::vector<Name> events;
  bool events_lost = false;
  bool has_agent = false;
  int agents = 0;
  std::map<StateId, std::map<Rank, Taken>> taken;
  std::optional<Rename> in_flight;
  bool changed = false;  // what was carried last was written to meanwhile
  std::map<std::tuple<Rank, PathInRank, Visit>, TakenFile> carried;

  RankPage& page(Rank rank) { return directories.at(rank).page; }
  void unlink(Directory& directory, const std::string& name);
  void release(const StateId& state);

 private:
  void forget(const File& file);
};

using CaseFiles = std::map<std::string, Bytes>;

struct Record {
  LineId line;
  std::map<PathInRank, Visit> paths;
  Names own;
};

struct CaseDirectory {
  Visit visit;
  CaseFiles files;
};

struct Case {
  std::map<std::pair<Rank, std::string>, CaseDirectory> directories;
  std::map<std::tuple<Rank, std::string, Visit>, CaseFiles> aside;
  std::map<std::pair<int, StateId>, std::map<Rank, Record>> records;  // (run, state)
  int owner = 0;
  std::set<std::tuple<int, int, int>> fenced;  // (run, node, agent): whose temporary directories are gone
  bool can_exchange = true;                    // RENAME_EXCHANGE; NFS has none

  const CaseFiles* find(Rank rank, const std::string& time, const Visit& visit) const;
};

}  // namespace forebay::simulator
