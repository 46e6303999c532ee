// Keeps a node's report on the shared file system up to date and reads those of the other nodes, from a thread of its
// own: the agent never waits for that file system. It looks for requests of the user, too. One file per node and run,
// made once and rewritten in place, by one process at a time.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/base.h"
#include "base/clock.h"
#include "run/launch/report.h"
#include "run/launch/request.h"

namespace forebay::launch {

class Reporter {
 public:
  Reporter(std::string path, Clock& clock);
  ~Reporter();
  const std::string& path() const { return path_; }
  // Takes the newest text; older ones that were not yet written are dropped. Thread-safe.
  void post(std::string text);
  // From now on reads the others' reports at this pace: all of them, or (not `all`) once it is known only that of the
  // node with rank 0, so that a thousand nodes do not read each other a million times.
  void listen(std::chrono::milliseconds pace, bool all);
  // Nothing is heard after it.
  void stop_listening();
  // The reports that were read since the last call; nullopt: none.
  std::optional<std::vector<NodeReport>> heard();
  // The user's request, where that is new: the thread looks for it each time that it has written a text.
  std::optional<Asked> asked();
  // Waits until the newest text is there, or until the time is over.
  bool flush(std::chrono::milliseconds at_most);

 private:
  void work();
  std::vector<NodeReport> read_others(bool all);
  std::optional<Asked> read_request();

  const std::string path_;
  Descriptor directory_;  // of `path_`; the thread's own, once there is one
  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> newest_;
  bool writing_ = false, stopping_ = false;
  std::optional<std::chrono::milliseconds> pace_;
  bool all_ = true;
  std::optional<std::vector<NodeReport>> heard_;
  std::optional<Asked> asked_;
  std::string last_request_;  // its name; the thread's own
  std::string leader_;        // the path of the report of the node with rank 0, once known; the thread's own
  std::jthread thread_;
};

}  // namespace forebay::launch
