#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "run/launch/namespace.h"

namespace forebay::launch {
namespace {

// The child's message when it is done: which step failed and why, or 0, 0.
struct Word {
  int step = 0;
  int errno_value = 0;
};
constexpr const char* steps[] = {"",
                                 "cannot make a private namespace",
                                 "cannot map the user",
                                 "cannot make mounts private",
                                 "cannot bind the case",
                                 "cannot bind the local tree over the case"};

bool write_text(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return done;
}

Word build(const std::string& case_path, const std::string& lower, const std::string& tree) {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  // Root needs no user namespace, and programs of root should stay root of everything.
  if (::unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return {1, errno};
  if (uid != 0) {
    write_text("/proc/self/setgroups", "deny");
    if (!write_text("/proc/self/uid_map", fmt::format("{} {} 1", uid, uid)) ||
        !write_text("/proc/self/gid_map", fmt::format("{} {} 1", gid, gid)))
      return {2, errno};
  }
  // Slave: what the system mounts later still appears, what is done here stays here.
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return {3, errno};
  if (::mount(case_path.c_str(), lower.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) return {4, errno};
  if (::mount(tree.c_str(), case_path.c_str(), nullptr, MS_BIND, nullptr) != 0) return {5, errno};
  return {};
}

}  // namespace

Result<Namespace> make_namespace(const std::string& case_path, const std::string& lower, const std::string& tree) {
  int ready[2], release[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return errno_error("cannot make a pipe", "");
  const Descriptor ready_read(ready[0]);
  Descriptor ready_write(ready[1]);
  if (::pipe2(release, O_CLOEXEC) != 0) return errno_error("cannot make a pipe", "");
  Descriptor release_read(release[0]), release_write(release[1]);
  const pid_t child = ::fork();
  if (child < 0) return errno_error("cannot fork", "");
  if (child == 0) {
    release_write.reset();
    const Word word = build(case_path, lower, tree);
    (void)!::write(ready_write.get(), &word, sizeof word);
    char end = 0;
    (void)!::read(release_read.get(), &end, 1);  // until the parent holds the namespaces
    ::_exit(0);
  }
  ready_write.reset();
  release_read.reset();
  Word word{1, EPIPE};
  (void)!::read(ready_read.get(), &word, sizeof word);
  Result<Namespace> result = [&]() -> Result<Namespace> {
    if (word.step != 0) {
      errno = word.errno_value;
      return errno_error(steps[word.step], word.step >= 4 ? case_path : std::string(),
                         "choose another way with --via redirect or --via path");
    }
    Namespace made;
    const std::string proc = fmt::format("/proc/{}/ns/", child);
    auto mount = open_file(proc + "mnt", O_RDONLY);
    if (!mount) return forward(mount);
    made.mount = std::move(*mount);
    if (::geteuid() != 0) {
      auto user = open_file(proc + "user", O_RDONLY);
      if (!user) return forward(user);
      made.user = std::move(*user);
    }
    return made;
  }();
  release_write.reset();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return result;
}

Status enter(int user, int mount) {
  if (user >= 0 && ::setns(user, CLONE_NEWUSER) != 0)
    return errno_error("cannot enter the user namespace of the run", "");
  if (::setns(mount, CLONE_NEWNS) != 0) return errno_error("cannot enter the mount namespace of the run", "");
  return {};
}

}  // namespace forebay::launch
