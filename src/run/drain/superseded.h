// Safe copies of times that the program has purged: they leave the case once a newer time is safe. Private to the room.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "run/drain/run.h"

namespace forebay::drain {

struct Superseded {
  Run& run;
  Observation& seen;
  Policy& policy;
  Work& work;
  End& end;

  std::set<std::string> superseding = {};                // safe times that a newer one may supersede (hold_times)
  std::vector<std::string> to_leave = {}, leaving = {};  // not called safe any more; and that was told (told())

  void find();
  void remove();
  bool may_remove() const;
  std::set<std::string> purged_from(const std::string& time) const;
  bool is_linked_to(const std::set<std::string>& directories) const;
};

}  // namespace forebay::drain
