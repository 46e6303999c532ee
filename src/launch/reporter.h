// Keeps a node's report on the shared file system up to date, from a thread of its own: the agent never waits for that
// file system. One file per node and run, made once and rewritten in place.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/base.h"

namespace forebay::launch {

class Reporter {
 public:
  explicit Reporter(std::string path);
  ~Reporter();
  // Takes the newest text; older ones that were not yet written are dropped. Thread-safe.
  void post(std::string text);
  // Waits until the newest text is there, or until the time is over.
  bool flush(std::chrono::milliseconds at_most);

 private:
  void work(std::stop_token stop);

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<std::string> newest_;
  bool writing_ = false;
  std::jthread thread_;
};

}  // namespace forebay::launch
