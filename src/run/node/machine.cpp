// Gathers a Machine from this node.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <sstream>

#include "base/question.h"
#include "run/node/mounts.h"
#include "run/node/node.h"
#include "run/node/observe.h"

namespace forebay::node {
namespace {

// For a directory that may lie behind a server that is dead: a link leads there, or a mount on the way.
constexpr std::chrono::milliseconds looks_within(2000);

Directory look_up(const std::string& path) {
  Directory directory;
  const auto resolved = real_path(path);
  if (!resolved) return directory;
  directory.path = *resolved;
  struct stat status {};
  directory.is_directory = ::stat(resolved->c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  directory.writable = directory.is_directory && ::faccessat(AT_FDCWD, resolved->c_str(), W_OK | X_OK, AT_EACCESS) == 0;
  struct statvfs sizes {};
  if (::statvfs(resolved->c_str(), &sizes) == 0)
    directory.available = static_cast<std::uint64_t>(sizes.f_bavail) * sizes.f_frsize;
  return directory;
}

Space measure_in_time(const std::string& path) {
  const auto words = ask(
      [&] {
        const Space space = measure_mount(path);
        return fmt::format("{} {} {:d}", space.total, space.available, space.writable);
      },
      looks_within, real_clock());
  Space space;
  if (words) std::istringstream(*words) >> space.total >> space.available >> space.writable;
  return space;
}

}  // namespace

std::string name_of(Medium medium) {
  switch (medium) {
    case Medium::fsdax:
      return "fsdax";
    case Medium::devdax:
      return "devdax";
    case Medium::tmpfs:
      return "tmpfs";
    case Medium::file:
      return "file";
  }
  return {};
}

Result<Machine> observe() {
  Machine machine;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) machine.node = name.data();

  auto sockets = load_sockets();
  if (!sockets) return forward(sockets);
  machine.sockets = std::move(*sockets);

  const auto meminfo = read_file("/proc/meminfo");
  if (!meminfo) return forward(meminfo);
  machine.memory_total = memory_line(*meminfo, "MemTotal").value_or(0);
  machine.memory_available = memory_line(*meminfo, "MemAvailable").value_or(0);

  const auto mountinfo = read_file("/proc/self/mountinfo");
  if (!mountinfo) return forward(mountinfo);
  const auto lines = parse_mountinfo(*mountinfo);
  machine.mounts = storage_mounts(lines, "/sys", [&](const std::string& path) {
    return lies_behind_others(path, lines) ? measure_in_time(path) : measure_mount(path);
  });
  machine.without_storage = mounts_without_storage(lines);
  // A tmpfs without a size limit reports zero blocks: memory is its only limit.
  for (Mount& mount : machine.mounts)
    if (mount.medium == Medium::tmpfs && mount.total == 0) {
      mount.total = machine.memory_total;
      mount.available = machine.memory_available;
    }
  machine.dax_devices = dax_devices("/sys", "/dev");
  if (const auto cgroup = read_file("/proc/self/cgroup"))
    machine.cgroup_headroom = cgroup_headroom(*cgroup, visible(lines));

  if (const char* named = std::getenv("TMPDIR"); named != nullptr && *named == '/') machine.temporary.push_back(named);
  machine.temporary.push_back("/tmp");
  return machine;
}

Directory find_directory(const std::string& path) {
  const auto words = ask(
      [&] {
        const Directory found = look_up(path);
        return fmt::format("{:d} {:d} {} {}", found.is_directory, found.writable, found.available, found.path);
      },
      looks_within, real_clock());
  Directory directory;
  if (!words) return directory;
  std::istringstream from(*words);
  from >> directory.is_directory >> directory.writable >> directory.available;
  from.ignore();
  directory.path = words->substr(static_cast<std::size_t>(from.tellg()));
  return directory;
}

}  // namespace forebay::node
