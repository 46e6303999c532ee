#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "run/node/observe.h"

namespace forebay::node {
namespace {

// The steps, in order; the child reports the one that failed and its errno through a pipe.
enum class Step : int { unshare, setgroups, uid_map, gid_map, make_private, bind };
constexpr std::array<const char*, 6> kStepNames{"unshare",
                                                "write to /proc/self/setgroups",
                                                "write to /proc/self/uid_map",
                                                "write to /proc/self/gid_map",
                                                "mount of / as private",
                                                "bind mount"};
struct Report {
  Step step;
  int errno_value;
};

// Everything that the child needs is made before fork(): between fork and _exit only plain system calls are safe.
struct Trial {
  bool user_namespace;
  std::string uid_map, gid_map;
};

bool write_file(const char* path, const char* content, std::size_t size) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, content, size) == static_cast<ssize_t>(size);
  const int saved = errno;
  ::close(fd);
  errno = saved;
  return written;
}

// Returns the step that failed, or -1.
int child_steps(const Trial& trial) {
  const auto failed = [](Step step) { return static_cast<int>(step); };
  if (::unshare(CLONE_NEWNS | (trial.user_namespace ? CLONE_NEWUSER : 0)) != 0) return failed(Step::unshare);
  if (trial.user_namespace) {
    // Kernels before 3.19 have no setgroups file; the kernel demands "deny" before a gid map of an ordinary user.
    if (!write_file("/proc/self/setgroups", "deny", 4) && errno != ENOENT) return failed(Step::setgroups);
    if (!write_file("/proc/self/uid_map", trial.uid_map.data(), trial.uid_map.size())) return failed(Step::uid_map);
    if (!write_file("/proc/self/gid_map", trial.gid_map.data(), trial.gid_map.size())) return failed(Step::gid_map);
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed(Step::make_private);
  // Recursive, since mounts inherited from the parent's namespace are locked together.
  if (::mount("/tmp", "/tmp", nullptr, MS_BIND | MS_REC, nullptr) != 0) return failed(Step::bind);
  return -1;
}

}  // namespace

Status try_namespaces(bool user_namespace) {
  const Trial trial{user_namespace, fmt::format("{0} {0} 1", ::geteuid()), fmt::format("{0} {0} 1", ::getegid())};
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_error("cannot make a pipe", "");
  const Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return errno_error("cannot fork", "");
  if (child == 0) {
    const int step = child_steps(trial);
    const Report report{static_cast<Step>(step), errno};
    if (step >= 0 && ::write(out.get(), &report, sizeof report) != sizeof report) ::_exit(2);
    ::_exit(step >= 0 ? 1 : 0);
  }
  out.reset();
  Report report{};
  ssize_t got = 0;
  do {
    got = ::read(in.get(), &report, sizeof report);
  } while (got < 0 && errno == EINTR);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (got == static_cast<ssize_t>(sizeof report)) {
    errno = report.errno_value;
    return errno_error(fmt::format("{} failed", kStepNames[static_cast<std::size_t>(report.step)]), "");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return error(Code::failed, "the trial of a namespace was killed");
  return {};
}

}  // namespace forebay::node
