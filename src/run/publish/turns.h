// Turns: which units get their names on the case in which order. A name may point to others: a symbolic link, a .pvd,
// an index that a script writes behind its data. Nobody can tell those names from others, so all names come in the
// order in which the program made them, and whoever looks at the case finds what a name points to.
#pragma once

#include <cstdint>
#include <set>

namespace forebay::drain {

// Times wait for earlier times only, so that endless other files hold none of them back. Files wait for both.
enum class Line { none, times, files };

struct Place {
  Line line = Line::none;
  std::uint64_t turn = 0;  // no other unit in a line has it
};

class Turns {
 public:
  // Until it leaves, later ones wait. Again: nothing changes.
  void join(const Place& place);
  // It has its name, or nobody waits for it any more.
  void leave(const Place& place);
  // Nothing that is to come first is left; true of what is in no line (any more).
  bool is_next(const Place& place) const;

 private:
  std::set<std::uint64_t> times_, files_;
};

}  // namespace forebay::drain
