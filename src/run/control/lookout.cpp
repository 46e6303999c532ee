// The thread that looks at the case.

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "run/control/control.h"

namespace forebay::control {
namespace {

// Looks take one part of so many of the time, at most.
constexpr int parts = 10;
// A writer opens a file first: a new file is given a moment to become whole.
constexpr std::chrono::milliseconds moment{50};
// The one who lets go of the thread waits so long for it.
constexpr std::chrono::milliseconds ends_within{200};

bool is_like(const Look& a, const Look& b) {
  return a.names == b.names && a.whole == b.whole && a.too_large == b.too_large;
}

}  // namespace

// State that the thread and its owner share; the last of them has it.
struct Lookout::Shared {
  const std::shared_ptr<drain::SharedFiles> files;
  const std::string aside;
  const std::function<void()> wake;
  Clock& clock;

  std::mutex mutex = {};
  std::condition_variable changed = {};
  Watched watched;
  std::chrono::milliseconds pace{1000};
  bool stopping = false, ended = false, again = false;
  std::vector<Wish> wishes = {};
  std::optional<Look> told = {};  // to be taken
  std::vector<Ready> ready = {};
  std::uint64_t made = 0;  // by the thread

  void work();
  void stop();
  void carry_out_wishes(std::unique_lock<std::mutex>& lock);
};

void Lookout::Shared::carry_out_wishes(std::unique_lock<std::mutex>& lock) {
  const std::vector<Wish> wanted = std::exchange(wishes, {});
  const Watched now = watched;
  lock.unlock();
  clock.sleep(moment);
  std::vector<Ready> done;
  for (const Wish& wish : wanted)
    done.push_back(control::make_ready(*files, now, wish, join(aside, std::to_string(++made)), clock));
  lock.lock();
  for (Ready& each : done) ready.push_back(std::move(each));
}

void Lookout::Shared::work() {
  std::optional<Look> last;
  Clock::time_point next = clock.now();
  std::unique_lock lock(mutex);
  while (!stopping) {
    const auto began = clock.now();
    if (!wishes.empty()) {
      carry_out_wishes(lock);
    } else if (began >= next) {
      const Watched now = watched;
      lock.unlock();
      Look found = look(*files, now, clock);
      lock.lock();
      next = std::max<Clock::time_point>(began + pace, began + parts * (clock.now() - began));
      const bool is_news = std::exchange(again, false) || !last || !is_like(*last, found);
      last = std::move(found);
      if (!is_news) continue;
      told = last;
    } else {
      clock.wait(lock, changed, next);
      continue;
    }
    lock.unlock();
    wake();
    lock.lock();
  }
  ended = true;
  changed.notify_all();
}

Lookout::Lookout(std::shared_ptr<drain::SharedFiles> files, Watched watched, std::string aside,
                 std::function<void()> wake, Clock& clock)
    : shared_(new Shared{.files = std::move(files),
                         .aside = std::move(aside),
                         .wake = std::move(wake),
                         .clock = clock,
                         .watched = std::move(watched)}) {
  std::thread([shared = shared_] { shared->work(); }).detach();
}

// A thread that waits for the case's server is left to itself.
void Lookout::Shared::stop() {
  std::unique_lock lock(mutex);
  stopping = true;
  changed.notify_all();
  (void)clock.wait(lock, changed, clock.now() + ends_within, [this] { return ended; });
}

Lookout::~Lookout() {
  shared_->stop();
}

void Lookout::set_pace(std::chrono::milliseconds pace) {
  const std::scoped_lock lock(shared_->mutex);
  shared_->pace = pace;
}

void Lookout::look_also_at(const std::string& directory) {
  const std::scoped_lock lock(shared_->mutex);
  shared_->watched.directories.push_back(directory);
}

void Lookout::look_again() {
  const std::scoped_lock lock(shared_->mutex);
  shared_->again = true;
}

void Lookout::make_ready(std::vector<Wish> wishes) {
  const std::scoped_lock lock(shared_->mutex);
  for (Wish& each : wishes) shared_->wishes.push_back(std::move(each));
  shared_->changed.notify_all();
}

std::optional<Look> Lookout::take_look() {
  const std::scoped_lock lock(shared_->mutex);
  return std::exchange(shared_->told, std::nullopt);
}

std::vector<Ready> Lookout::take_ready() {
  const std::scoped_lock lock(shared_->mutex);
  return std::exchange(shared_->ready, {});
}

}  // namespace forebay::control
