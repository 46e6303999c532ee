#include "base/clock.h"

#include <algorithm>
#include <climits>
#include <optional>
#include <thread>
#include <utility>

namespace forebay {
namespace {

class RealClock final : public Clock {
 public:
  time_point now() override { return std::chrono::steady_clock::now(); }
  std::chrono::system_clock::time_point date() override { return std::chrono::system_clock::now(); }
  int poll(std::span<pollfd> descriptors, std::chrono::milliseconds at_most) override {
    const auto time = std::clamp<std::chrono::milliseconds::rep>(at_most.count(), -1, INT_MAX);
    return ::poll(descriptors.data(), descriptors.size(), static_cast<int>(time));
  }
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, time_point until) override {
    changed.wait_until(lock, until);
  }
};

}  // namespace

Status Clock::meanwhile(const std::function<Status()>& work, duration interval, const std::function<void()>& show) {
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<Status> done;
  const std::jthread worker([&] {
    auto status = work();
    const std::scoped_lock lock(mutex);
    done = std::move(status);
    ended.notify_all();
  });
  std::unique_lock lock(mutex);
  while (!wait(lock, ended, now() + interval, [&] { return done.has_value(); })) show();
  return std::move(*done);
}

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

}  // namespace forebay
