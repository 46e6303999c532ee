#include "run/node/observe.h"

#include <algorithm>

namespace forebay::node {
namespace {

// The files of a control group, which differ between the versions.
struct Names {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // line of memory.stat
};
constexpr Names kVersion2{"memory.max", "memory.current", "inactive_file"};
constexpr Names kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};

std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto content = read_file(path, 4096);
  if (!content) return std::nullopt;
  const auto value = parse_integer(split(*content, '\n').front());
  if (!value || *value < 0) return std::nullopt;  // "max"
  return static_cast<std::uint64_t>(*value);
}

std::uint64_t statistic(const std::string& path, std::string_view name) {
  const auto content = read_file(path, std::size_t{1} << 20);
  if (!content) return 0;
  for (const std::string_view line : split(*content, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() == 2 && words[0] == name) return static_cast<std::uint64_t>(parse_integer(words[1]).value_or(0));
  }
  return 0;
}

std::optional<std::uint64_t> headroom_of(const std::string& group, const Names& names) {
  const auto limit = number_in(group + "/" + names.limit);
  const auto usage = number_in(group + "/" + names.usage);
  // Version 1 says "no limit" with a number near the largest.
  if (!limit || !usage || *limit >= (std::uint64_t{1} << 62)) return std::nullopt;
  // Cached pages of ordinary files are given back under pressure; pages of tmpfs are not among them.
  const std::uint64_t kept = *usage - std::min(*usage, statistic(group + "/memory.stat", names.reclaimable));
  return *limit - std::min(*limit, kept);
}

// The tightest limit from the group at `path` below the hierarchy mounted as `mount` up to the mount's own directory.
std::optional<std::uint64_t> tightest(const MountLine& mount, std::string_view path, const Names& names) {
  // In a container the hierarchy may be mounted from the container's own group on.
  if (mount.root != "/" && is_below(path, mount.root)) path.remove_prefix(mount.root.size());
  std::optional<std::uint64_t> least;
  std::string group = mount.path + (path == "/" ? std::string() : std::string(path));
  for (;; group = parent_of(group)) {
    if (const auto room = headroom_of(group, names)) least = std::min(*room, least.value_or(*room));
    if (group.size() <= mount.path.size()) return least;
  }
}

}  // namespace

std::optional<std::uint64_t> memory_line(std::string_view meminfo, std::string_view name) {
  for (const std::string_view line : split(meminfo, '\n')) {
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    for (const std::string_view word : split(line.substr(name.size() + 1), ' '))
      if (const auto kibibytes = parse_integer(word)) return static_cast<std::uint64_t>(*kibibytes) * 1024;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> cgroup_headroom(std::string_view self_cgroup, const std::vector<MountLine>& mounts) {
  std::optional<std::uint64_t> least;
  const auto consider = [&](std::string_view path, const Names& names, const auto& is_hierarchy) {
    const auto mount = std::ranges::find_if(mounts, is_hierarchy);
    if (mount == mounts.end()) return;
    if (const auto room = tightest(*mount, path, names)) least = std::min(*room, least.value_or(*room));
  };
  for (const std::string_view line : split(self_cgroup, '\n')) {
    // "0::/path" for version 2, "4:memory:/path" for version 1; the path may hold colons.
    const auto words = split(line, ':');
    if (words.size() < 3) continue;
    const std::string_view path = line.substr(words[0].size() + words[1].size() + 2);
    if (words[0] == "0" && words[1].empty()) {
      consider(path, kVersion2, [](const MountLine& mount) { return mount.type == "cgroup2"; });
    } else if (has_option(words[1], "memory")) {
      consider(path, kVersion1, [](const MountLine& mount) {
        return mount.type == "cgroup" && has_option(mount.super_options, "memory");
      });
    }
  }
  return least;
}

}  // namespace forebay::node
