#include "store/trajectory/lanes.h"

#include <algorithm>

#include "store/trajectory/threads.h"

namespace forebay::trajectory {

Lanes::Lanes(std::size_t lanes, unsigned threads) : lanes_(lanes) {
  const NoSignals in_threads;
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

Lanes::~Lanes() {
  clear();
  {
    const Locked lock(mutex_);
    stop_ = true;
    work_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Lanes::post(std::size_t lane, Work work) {
  if (threads_.empty()) return work();
  const Locked lock(mutex_);
  lanes_[lane].waiting.push_back(std::move(work));
  work_.notify_one();
}

void Lanes::clear() {
  const Locked lock(mutex_);
  for (Lane& lane : lanes_) lane.waiting.clear();
  while (std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.busy; })) mutex_.wait(done_);
}

Lanes::Lane* Lanes::next() {
  const auto ready = [](const Lane& lane) { return !lane.busy && !lane.waiting.empty(); };
  const auto found = std::find_if(lanes_.begin(), lanes_.end(), ready);
  return found == lanes_.end() ? nullptr : &*found;
}

void Lanes::serve() {
  const Locked lock(mutex_);
  while (!stop_) {
    Lane* const lane = next();
    if (lane == nullptr) {
      mutex_.wait(work_);
      continue;
    }
    const Work work = std::move(lane->waiting.front());
    lane->waiting.pop_front();
    lane->busy = true;
    {
      const GivenUp open(mutex_);
      work();
    }
    lane->busy = false;
    done_.notify_all();
  }
}

}  // namespace forebay::trajectory
