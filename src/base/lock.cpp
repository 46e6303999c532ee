#include "base/lock.h"

#include <sys/file.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace forebay {
namespace {

constexpr std::chrono::seconds kFirstRun{5};  // until a forked child has run, on the busiest of machines

// Neither gone nor a zombie, which has closed its files.
bool is_alive(int process) {
  const std::string text = read_file("/proc/" + std::to_string(process) + "/stat").value_or("");
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  const char state = text[name_end + 2];
  return state != 'Z' && state != 'X';
}

bool is_held_by_the_living(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  return LockHolders().of(status).has_value();
}

}  // namespace

Result<bool> take_lock(int fd, const std::string& path_for_errors, bool shared) {
  if (::flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return true;
  if (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK) return true;  // ENOLCK: NFS whose server has no lockd
  if (errno == EWOULDBLOCK) return false;
  return errno_error("cannot lock", path_for_errors);
}

Result<bool> take_own_lock(int fd, const std::string& path_for_errors, bool shared) {
  Clock& clock = real_clock();
  for (const auto until = clock.now() + kFirstRun;; clock.sleep(std::chrono::milliseconds(1))) {
    auto taken = take_lock(fd, path_for_errors, shared);
    if (!taken || *taken || clock.now() >= until || is_held_by_the_living(fd)) return taken;
  }
}

LockHolders::LockHolders() {
  const std::string text = read_file("/proc/locks").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    int number = 0, holder = 0;
    unsigned major = 0, minor = 0;
    unsigned long long inode = 0;
    const std::string one(line);
    if (std::sscanf(one.c_str(), "%d: FLOCK %*s %*s %d %x:%x:%llu", &number, &holder, &major, &minor, &inode) == 5)
      holders_.emplace(std::tuple(major, minor, inode), holder);
  }
}

std::optional<int> LockHolders::of(const struct stat& file) const {
  const auto [begin, end] = holders_.equal_range({major(file.st_dev), minor(file.st_dev), file.st_ino});
  const auto found = std::find_if(begin, end, [](const auto& holder) { return is_alive(holder.second); });
  return found == end ? std::nullopt : std::optional(found->second);
}

}  // namespace forebay
