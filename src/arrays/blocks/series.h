// The list of the files of a series and their times, as ParaView reads it (NAME.vtkhdf.series).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::blocks {

inline constexpr const char* kSeriesEnding = ".vtkhdf.series";

class Series {
 public:
  // Empty where there is no such file: a program that restarts goes on with the list of the one before.
  static Result<Series> read(const std::string& path);

  bool has(const std::string& name) const;
  // A file of the same name is written again.
  void add(const std::string& name, double time);
  // Those of its files that are none of these, in the directory of the list, are gone.
  void list_only(const std::set<std::string>& files);
  Status write(const std::string& path) const;
  friend bool operator==(const Series&, const Series&) = default;

 private:
  struct Entry {
    std::string name;
    double time = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries_;  // in the order of their times
};

}  // namespace forebay::blocks
