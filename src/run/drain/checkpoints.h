// The checkpoint directories of a run (checkpoint.h). Private to the room.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "run/drain/checkpoint.h"
#include "run/drain/jobs.h"
#include "run/drain/run.h"
#include "run/drain/watch.h"

namespace forebay::drain {

struct Checkpoints {
  Run& run;
  Observation& seen;
  Work& work;
  End& end;

  std::vector<Checkpoint> all = {};
  bool is_unfinished = false;  // something of one is left behind, since the case has a whole version

  Status open();
  Checkpoint* containing(std::string_view path);  // that `path` lies in
  void handle(Checkpoint& checkpoint, const Event& event);
  void advance();
  void carry(Checkpoint& checkpoint);
  void submit(Checkpoint& checkpoint, std::optional<int> version);
  void carried(const Job& job, const Published& published);
  void landed(const Job& job, bool home);
  void submit_last();
  bool stays_behind(const Checkpoint& checkpoint) const;
};

}  // namespace forebay::drain
