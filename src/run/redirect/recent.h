// The directory of the case that was mapped last: programs make and look for many files in one directory, and nearly
// all that is to be found out about a path is found out about its directory.
#pragma once

#include "run/redirect/state.h"

namespace forebay::redirect {

// Shared by all threads and signal handlers, without a lock: `version_` is odd while someone writes, and who reads
// looks whether it is still the same afterwards; whoever meets a writer does without.
class RecentDirectory {
 public:
  // The kernel path of an absolute one whose directory is the one that was noted.
  bool map(const char* path, Path& out) const {
    const uint32_t seen = version_.load(std::memory_order_acquire);
    const size_t size = from_size_, to_size = to_size_;
    if ((seen & 1) != 0 || size == 0 || changes_ != state.known.changes.load(std::memory_order_relaxed)) return false;
    // Where somebody is just writing, the text may end before `size`, and `path` with it.
    if (from_[size - 1] != '/' || strncmp(path, from_, size) != 0) return false;
    const char* name = path + size;
    const char* end = strchrnul(name, '/');
    const auto length = static_cast<size_t>(end - name);
    if (*end == '/' || length == 0 || length > NAME_MAX || name[0] == '.') return false;
    copy_text(out.text, to_, to_size);
    copy_text(out.text + to_size, name, length + 1);
    out.size = to_size + length;
    std::atomic_thread_fence(std::memory_order_acquire);
    return version_.load(std::memory_order_relaxed) == seen;
  }

  // Both texts end with a slash. `changes`: the state's, from before it was looked where the directory leads.
  void note(const char* from, size_t from_size, const char* to, size_t to_size, uint32_t changes) {
    if (from_size < 16 || from_size > capacity || to_size > capacity) return;
    uint32_t seen = version_.load(std::memory_order_relaxed);
    if ((seen & 1) != 0 || !version_.compare_exchange_strong(seen, seen + 1, std::memory_order_acquire)) return;
    std::atomic_thread_fence(std::memory_order_release);
    changes_ = changes;
    from_size_ = from_size;
    to_size_ = to_size;
    memcpy(from_, from, from_size);
    memcpy(to_, to, to_size);
    version_.store(seen + 2, std::memory_order_release);
  }

 private:
  static constexpr size_t capacity = 256;

  std::atomic<uint32_t> version_{0};
  uint32_t changes_ = 0;
  size_t from_size_ = 0, to_size_ = 0;
  char from_[capacity] = {}, to_[capacity] = {};
};

}  // namespace forebay::redirect
