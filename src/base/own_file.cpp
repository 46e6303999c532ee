#include "base/own_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/mutex.h"

namespace forebay {
namespace {

std::atomic<unsigned> fork_count = 0;

struct Files {
  Guard<std::mutex> mutex;
  std::vector<int> open GUARDED_BY(mutex);
};

// Never destroyed: a process may fork, and files may end, after the statics have.
Files& files() {
  static Files* const all = [] {
    auto* const made = new Files;
    // Nobody changes the list while a process forks, and the child finds the mutex free.
    ::pthread_atfork([]() NOT_ANALYSED { files().mutex.lock(); }, []() NOT_ANALYSED { files().mutex.unlock(); },
                     []() NOT_ANALYSED {
                       for (const int file : files().open) ::close(file);
                       files().open.clear();
                       fork_count.fetch_add(1, std::memory_order_relaxed);
                       files().mutex.unlock();
                     });
    return made;
  }();
  return *all;
}

}  // namespace

unsigned forks() {
  (void)files();  // from now on they are counted, also where no file is open
  return fork_count.load(std::memory_order_relaxed);
}

OwnFile::OwnFile(Descriptor file) : file_(std::move(file)), forks_(forks()) {
  if (!file_) return;
  const Locked lock(files().mutex);
  files().open.push_back(file_.get());
}

void OwnFile::reset() {
  if (!file_) return;
  if (forks_ != forks()) {
    (void)file_.release();  // closed at the fork: another file may have its number now
    return;
  }
  struct flock all {};
  all.l_type = F_UNLCK;
  all.l_whence = SEEK_SET;
  (void)::flock(file_.get(), LOCK_UN);
  (void)::fcntl(file_.get(), F_OFD_SETLK, &all);
  const Locked lock(files().mutex);
  std::erase(files().open, file_.get());
  file_.reset();
}

}  // namespace forebay
