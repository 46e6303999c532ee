// Files with several names. Private to the room.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "run/drain/jobs.h"
#include "run/drain/look.h"
#include "run/drain/run.h"

namespace forebay::drain {

// Where the case has files that are to get a second name.
using Partners = std::map<FileId, layouts::HardLink>;
// Makes those files of a time that have a name on the case already hard links to it. The files are on their way from
// then on, under the unit's target. False: whether they have a name must be found out first (`several_names`).
bool use_partners(layouts::Unit& unit, const std::string& directory, const OwnNames& own, const Partners* partners,
                  FilesOnTheirWay& on_their_way, Prepared& prepared);

class Links {
 public:
  Links(Run& run, Work& work) : run_(run), work_(work) {}

  void find_partners(const Job& job);
  void note_second_name(const PublishedFile& file);
  void note_landed(const std::string& key) { on_their_way_.remove(key); }
  FilesOnTheirWay& on_their_way() { return on_their_way_; }
  // So many second names became files of their own.
  void note_separated(std::uint64_t names) { separated_ += names; }
  std::uint64_t separated() const { return separated_; }

 private:
  void try_later(const Job& job);

  Run& run_;
  Work& work_;
  FilesOnTheirWay on_their_way_ = {};
  std::uint64_t separated_ = 0;
};

}  // namespace forebay::drain
