#include "base/present_path.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace forebay {
namespace {

constexpr std::string_view removed = " (deleted)";

// The number of the mount that a descriptor lies on; 0: the kernel does not tell.
std::int64_t mount_of(const std::string& descriptor) {
  const std::string told = read_file("/proc/self/fdinfo/" + descriptor, 1 << 16).value_or("");
  constexpr std::string_view key = "mnt_id:";
  for (const std::string_view line : split(told, '\n'))
    if (line.starts_with(key)) return parse_integer(line.substr(line.find_first_not_of(" \t", key.size()))).value_or(0);
  return 0;
}

bool is_mounted(std::int64_t mount) {
  const auto told = read_file("/proc/self/mountinfo", std::size_t{64} << 20);
  if (!told || mount == 0) return true;  // nothing tells against it
  const std::string begin = std::to_string(mount) + " ";
  return std::ranges::any_of(split(*told, '\n'), [&](std::string_view line) { return line.starts_with(begin); });
}

}  // namespace

Result<std::string> present_path(int directory, const std::string& before) {
  const std::string descriptor = std::to_string(directory);
  auto path = read_link("/proc/self/fd/" + descriptor);
  if (!path || *path == before) return path;
  const bool is_seen = path->starts_with('/') && is_mounted(mount_of(descriptor));
  if (is_seen && !path->ends_with(removed)) return path;
  errno = is_seen ? ENOENT : ENODEV;
  return errno_error("it is not there any more:", *path);
}

}  // namespace forebay
