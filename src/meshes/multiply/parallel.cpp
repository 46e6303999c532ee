#include "meshes/multiply/parallel.h"

#include <atomic>
#include <chrono>
#include <future>
#include <vector>

namespace forebay::multiply {

Status in_parallel(unsigned threads, std::size_t count, const std::function<Status(std::size_t)>& job,
                   const std::function<void()>& meanwhile) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&]() -> Status {
    for (std::size_t mine = next++; mine < count; mine = next++) {
      if (auto done = job(mine); !done) {
        next = count;
        return done;
      }
    }
    return {};
  };
  std::vector<std::future<Status>> workers;
  for (unsigned i = 0; i < threads; ++i) workers.push_back(std::async(std::launch::async, work));
  Status all;
  for (std::future<Status>& worker : workers) {
    while (worker.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) meanwhile();
    if (auto done = worker.get(); !done && all) all = done;
  }
  return all;
}

}  // namespace forebay::multiply
