// Ranks of a solver that measure at the same time.
#pragma once

#include <functional>

namespace forebay::trajectory::bench {

// Processes that are copies of this one, which becomes rank 0. Made before any thread is. When one of them gives in,
// all end; the others end with this object.
class Ranks {
 public:
  explicit Ranks(int count);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  int rank() const { return rank_; }
  int count() const { return count_; }
  // All ranks begin the work together; the seconds until the last one has done it, for every rank the same.
  double seconds(const std::function<void()>& work);

 private:
  struct Shared;
  void meet();

  Shared* shared_;
  int count_;
  int rank_ = 0;
};

}  // namespace forebay::trajectory::bench
