// Files that the program has closed and the case does not have yet: how much, and since when. Sizes are those at the
// closing. For people. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace forebay::drain {

struct OnlyLocalAmount {
  std::uint64_t files = 0, bytes = 0;
  double seconds = 0;  // since when; of what waits longest
};

class OnlyLocal {
 public:
  // A file was closed, `when` in seconds; again, with another size.
  void closed(const std::string& path, std::uint64_t bytes, double when);
  // Carried or removed, with all that is below it.
  void gone(const std::string& path);
  OnlyLocalAmount amount(double now) const;

 private:
  // By directory, which tells since when: a time's files are carried together.
  struct Directory {
    std::map<std::string, std::uint64_t, std::less<>> files = {};
    std::uint64_t bytes = 0;
    double since = 0;  // it had none before
  };
  std::map<std::string, Directory, std::less<>> directories_;
};

}  // namespace forebay::drain
