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

class Checkpoints {
 public:
  Checkpoints(Run& run, Work& work) : run_(run), work_(work) {}

  Status open();
  Checkpoint* containing(std::string_view path);  // that `path` lies in
  void handle(const Event& event);
  void advance();
  // The program was seen at work after the last look.
  void vouch();
  // Files that are written now may be cut.
  void distrust();
  // A version that was kept, or (nullopt) the directory as it is now, in the place of what the case has.
  void submit(Checkpoint& checkpoint, std::optional<int> version);
  void carried(const Job& job, const Published& published);
  // `changed`: what was to be carried was written to meanwhile.
  void landed(const Job& job, bool home, bool changed);
  void carry_all();
  // Whether a program that was killed may have closed files of one, as far as the last look tells.
  bool take_doubts();
  const std::vector<Checkpoint>& all() const { return all_; }
  // Something of one is left behind, since the case has a whole version.
  void note_unfinished(bool now) { is_unfinished_ = now; }
  bool is_unfinished() const { return is_unfinished_; }
  void submit_last();
  bool stays_behind(const Checkpoint& checkpoint) const;

 private:
  void carry(Checkpoint& checkpoint);

  std::optional<Marks> marks_in(const std::string& path, const std::string& local) const;
  void look(Checkpoint& checkpoint);

  Run& run_;
  Work& work_;
  std::vector<Checkpoint> all_ = {};
  bool is_unfinished_ = false;
};

}  // namespace forebay::drain
