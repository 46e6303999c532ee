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
    const Lock lock(mutex_);
    stop_ = true;
    work_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Lanes::post(std::size_t lane, Work work) {
  if (threads_.empty()) return work();
  const Lock lock(mutex_);
  lanes_[lane].waiting.push_back(std::move(work));
  work_.notify_one();
}

void Lanes::clear() {
  Lock lock(mutex_);
  for (Lane& lane : lanes_) lane.waiting.clear();
  done_.wait(lock, [&] { return std::none_of(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.busy; }); });
}

Lanes::Lane* Lanes::next() {
  const auto ready = [](const Lane& lane) { return !lane.busy && !lane.waiting.empty(); };
  const auto found = std::find_if(lanes_.begin(), lanes_.end(), ready);
  return found == lanes_.end() ? nullptr : &*found;
}

void Lanes::serve() {
  Lock lock(mutex_);
  while (!stop_) {
    Lane* const lane = next();
    if (lane == nullptr) {
      work_.wait(lock);
      continue;
    }
    const Work work = std::move(lane->waiting.front());
    lane->waiting.pop_front();
    lane->busy = true;
    lock.unlock();
    work();
    lock.lock();
    lane->busy = false;
    done_.notify_all();
  }
}

}  // namespace forebay::trajectory
