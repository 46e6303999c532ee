// The ends of the files of output times. A file that was not written to its end, as a killed rank or a full disk leaves
// it, is *cut*: OpenFOAM cannot read it. Other writers leave out OpenFOAM's closing line, and markers are empty, so
// what a file's end says depends on how the other files of its name end.
#pragma once

#include <map>
#include <set>
#include <string>

namespace forebay::openfoam {

enum class Ending {
  plain,     // its content does not tell whether it is whole: it has no FoamFile header, or it is collated and has all
             // blocks
  closed,    // it has a FoamFile header and OpenFOAM's closing line
  unclosed,  // it has a FoamFile header and no closing line
  empty,
  torn  // cut for sure: it cannot be read, ends within its header, its gzip stream does not end, a block is missing
};

// The ending of the file at `path`, by its content where it is compressed (".gz", RFC 1952). `blocks`: that a collated
// file (class decomposedBlockData) has; 0: it is no file of a group, and at least one block must be whole. The first
// and the last bytes of a file are read, all of a compressed one, and of a collated one what is between its blocks.
// Links are followed.
Ending ending_of(const std::string& path, int blocks = 0);

// The endings of one rank's part of a time, by the files' names without ".gz".
using Endings = std::map<std::string, Ending>;

// How files of each name have ended so far, in the start time and in the times of a run. Pure.
//
// An unclosed file is cut if some file of its name has a closing line, and an empty one if some file of its name is not
// empty. A name that only one time at most has is compared with other names: an unclosed file of it is cut if any file
// has a closing line, and an empty one is cut.
class Habits {
 public:
  // One rank's part of a time; again when it has got a file since. True if an unclosed or empty file of an earlier call
  // may be judged otherwise now.
  bool add(const std::string& time, const Endings& endings);
  bool is_cut(const std::string& name, Ending ending) const;
  bool knows(const std::string& name) const { return of_name_.contains(name); }

 private:
  struct OfName {
    std::set<std::string> times;  // the first two
    bool closed = false, filled = false, doubtful = false;
  };
  std::map<std::string, OfName> of_name_;
  bool any_closed_ = false;
};

}  // namespace forebay::openfoam
