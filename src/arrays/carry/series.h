// The list of the files of a series and their times, as ParaView reads it (NAME.vtkhdf.series).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::carry {

inline constexpr const char* kSeriesEnding = ".vtkhdf.series";

class Series {
 public:
  // Empty where there is no such file: a program that restarts goes on with the list of the one before.
  static Result<Series> read(const std::string& path);

  bool has(const std::string& name) const;
  // A file of the same name is written again.
  void add(const std::string& name, double time);
  // Looks into the list's directory. Steps of this output that are there but not listed, since their program was killed
  // before it could name them, come to the list; steps that are gone leave it.
  Status look_into(const std::string& directory, const std::string& output);
  Status write(const std::string& path) const;
  friend bool operator==(const Series&, const Series&) = default;

 private:
  struct Entry {
    std::string name;
    double time = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  void list_only(const std::set<std::string>& files);
  std::vector<Entry> entries_;  // in the order of their times
};

// Names a step of a mesh output, which was brought home, in the list beside it; any other file is none of it.
Status list_in_series(const std::string& path);

}  // namespace forebay::carry
