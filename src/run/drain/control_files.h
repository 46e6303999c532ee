// Control files: the program gets to see files that somebody puts on the case, changes or removes there while it works.
// Another thread looks at the case and tells what it holds (run/control/control.h). Private to the room.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/control/control.h"
#include "run/drain/run.h"

namespace forebay::drain {

class ControlFiles {
 public:
  ControlFiles(Run& run, Work& work) : run_(run), work_(work) {}

  // The time between two looks on the node of rank 0. Other nodes look as often as growing files are refreshed, where
  // that is rarer. The program sees a change within 2 s.
  static constexpr std::chrono::milliseconds pace{1500};
  // A look that began earlier says nothing: what the run did meanwhile is not remembered for so long.
  static constexpr std::chrono::seconds oldest_look{30};
  static constexpr std::size_t many_touched = 10'000;
  // A file is copied again after so many times what its copy took.
  static constexpr int pause_per_copy = 10;

  // Takes in what the thread has found and made ready. The agent calls it now and then while the program works. True:
  // act() is due when all events have been read.
  bool take_news();
  void act();
  void finish();

  // The program has a version of its own of this file (Drain::change_input): what the case has by now is not shown.
  void note_changed_input(const std::string& path) { replaced_.insert(path); }

 private:
  bool begin();
  void remove_removed();
  void decide(const control::Look& found);
  control::Here here(const std::string& path, const std::optional<Known>& known) const;
  bool is_moving(const std::string& path, Clock::time_point since) const;
  // False: that is known at the next look only.
  bool consider(const std::string& path, const std::optional<control::OnCase>& there, Clock::time_point since,
                std::vector<control::Wish>& wishes);
  void put(const control::Ready& made);
  bool show(const control::Ready& made, control::Here before);
  bool take(const control::Ready& made, control::Here before);
  void record(const control::Ready& made);

  Run& run_;
  Work& work_;
  bool has_failed_ = false;
  std::string aside_ = {};  // where what is to be shown lies before
  std::optional<control::Look> look_ = {};
  std::vector<control::Ready> ready_ = {};
  std::set<std::string> under_way_ = {};                      // what the thread makes ready
  std::map<std::string, Identity> refused_ = {};              // what cannot be shown, as it was
  std::map<std::string, Clock::time_point> not_before_ = {};  // what was copied, and when it may be again
  std::set<std::string> replaced_ = {};
  // Edits that links to the case show by themselves: where a copy takes a link's place they are no news.
  std::map<std::string, Identity> seen_through_links_ = {};
  // Last, so that the thread ends before anything that it uses.
  std::unique_ptr<control::Lookout> lookout_ = {};
};

}  // namespace forebay::drain
