#include "run/node/mounts.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "run/node/observe.h"

namespace forebay::node {
namespace {

// File systems without storage of their own; nothing can be put there.
constexpr std::array<std::string_view, 25> kNoStorage{
    "proc",     "sysfs",  "devtmpfs", "devpts",    "cgroup",    "cgroup2",     "securityfs", "debugfs",    "tracefs",
    "configfs", "pstore", "bpf",      "mqueue",    "fusectl",   "binfmt_misc", "autofs",     "rpc_pipefs", "efivarfs",
    "nsfs",     "ramfs",  "squashfs", "hugetlbfs", "selinuxfs", "iso9660",     "nfsd"};

// Only what is known to be one node's own counts as node-local: an unknown type may be somebody's parallel file system
// (also gfs2 and ocfs2, which sit on block devices), and a pool there would be the very thing forebay avoids.
constexpr std::array<std::string_view, 12> kNodeLocal{"ext2", "ext3", "ext4",  "xfs",      "btrfs",   "f2fs",
                                                      "zfs",  "jfs",  "tmpfs", "bcachefs", "overlay", "nilfs2"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// mountinfo writes space, tab, newline and backslash as \ooo.
std::string unescape_octal(std::string_view text) {
  std::string out;
  const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '7'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// `disk`: resolved directory of a whole block device. `depth` bounds stacks of md and device mapper.
Device disk_facts(const std::string& disk, const std::string& sys, int depth) {
  Device device;
  device.dax = small_file(disk + "/queue/dax") == "1";
  const auto slaves = list_directory(disk + "/slaves");
  if (!slaves || slaves->empty() || depth == 0) {
    device.nvme = forebay::name_of(disk).starts_with("nvme") && small_file(disk + "/queue/rotational") == "0";
    device.numa_node = numa_node_above(disk, sys);
    return device;
  }
  bool first = true;
  for (const DirectoryEntry& slave : *slaves) {
    auto below = real_path(disk + "/slaves/" + slave.name);
    if (!below) continue;
    if (::access((*below + "/partition").c_str(), F_OK) == 0) below = std::string(parent_of(*below));
    const Device part = disk_facts(*below, sys, depth - 1);
    device.nvme = part.nvme && (first || device.nvme);
    if (first) {
      device.numa_node = part.numa_node;
    } else if (device.numa_node != part.numa_node) {
      device.numa_node.reset();  // striped over sockets: it is nobody's own
    }
    first = false;
  }
  return device;
}

std::string option_value(std::string_view options, std::string_view key) {
  for (const std::string_view option : split(options, ','))
    if (option.starts_with(key) && option.size() > key.size() && option[key.size()] == '=')
      return std::string(option.substr(key.size() + 1));
  return {};
}

}  // namespace

std::vector<MountLine> parse_mountinfo(std::string_view text) {
  std::vector<MountLine> lines;
  for (const std::string_view line : split(text, '\n')) {
    // 36 35 98:0 /root /path options [optional fields] - type source super_options
    const auto words = split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 7 || words.end() - dash < 3 || dash - words.begin() < 6) continue;
    const auto id = parse_integer(words[0]);
    const auto parent = parse_integer(words[1]);
    if (!id || !parent) continue;
    const auto behind = words.size() - static_cast<std::size_t>(words.end() - dash);
    lines.push_back({static_cast<int>(*id), static_cast<int>(*parent), std::string(words[2]), unescape_octal(words[3]),
                     unescape_octal(words[4]), std::string(words[5]), unescape_octal(words[behind + 1]),
                     unescape_octal(words[behind + 2]),
                     words.size() > behind + 3 ? unescape_octal(words[behind + 3]) : std::string()});
  }
  return lines;
}

std::vector<MountLine> visible(const std::vector<MountLine>& lines) {
  // Two mounts on the same parent, one at or above the other's path: the upper one came later (or the lower one would
  // have become its child) and hides the lower one with all that is mounted in it. A mount at another's own root hides
  // that one alone; what was mounted inside is caught by the first rule.
  const auto hidden_by_sibling = [&](const MountLine& line) {
    return std::ranges::any_of(lines, [&](const MountLine& other) {
      return other.id != line.id && other.parent == line.parent && other.id != other.parent &&
             is_below(line.path, other.path);
    });
  };
  const auto covered = [&](const MountLine& line) {
    return std::ranges::any_of(lines, [&](const MountLine& other) {
      return other.id != line.id && other.parent == line.id && other.path == line.path;
    });
  };
  std::vector<MountLine> seen;
  for (const MountLine& line : lines) {
    if (covered(line)) continue;
    bool hidden = false;
    const MountLine* at = &line;
    for (std::size_t steps = 0; at != nullptr && !hidden && steps <= lines.size(); ++steps) {
      hidden = hidden_by_sibling(*at);
      const auto parent = std::ranges::find_if(
          lines, [&](const MountLine& other) { return other.id == at->parent && other.id != at->id; });
      at = parent == lines.end() ? nullptr : &*parent;
    }
    if (!hidden) seen.push_back(line);
  }
  return seen;
}

bool has_option(std::string_view options, std::string_view option) {
  const auto all = split(options, ',');
  return std::ranges::find(all, option) != all.end();
}

Device device_of(const std::string& sys, const std::string& number) {
  const auto root = real_path(sys);
  auto device = real_path(sys + "/dev/block/" + number);
  if (!root || !device) return {};
  if (::access((*device + "/partition").c_str(), F_OK) == 0) device = std::string(parent_of(*device));
  return disk_facts(*device, *root, 4);
}

Space measure_mount(const std::string& path) {
  Space space;
  struct stat status {};
  struct statvfs sizes {};
  if (::stat(path.c_str(), &status) != 0 || ::statvfs(path.c_str(), &sizes) != 0) return space;
  space.total = static_cast<std::uint64_t>(sizes.f_blocks) * sizes.f_frsize;
  space.available = static_cast<std::uint64_t>(sizes.f_bavail) * sizes.f_frsize;
  space.writable = S_ISDIR(status.st_mode) && ::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
  return space;
}

bool lies_behind_others(const std::string& path, const std::vector<MountLine>& lines) {
  return std::ranges::any_of(lines, [&](const MountLine& line) {
    return line.path != "/" && line.path != path && is_below(path, line.path) && !contains(kNodeLocal, line.type) &&
           (line.type == "autofs" || !contains(kNoStorage, line.type));
  });
}

std::vector<Mount> storage_mounts(const std::vector<MountLine>& lines, const std::string& sys,
                                  const MeasureMount& measure) {
  std::vector<Mount> mounts;
  for (const MountLine& line : visible(lines)) {
    if (contains(kNoStorage, line.type)) continue;
    Mount mount;
    mount.path = line.path;
    mount.type = line.type;
    mount.source = line.source;
    mount.node_local = contains(kNodeLocal, line.type);
    if (mount.node_local) {
      const Device device = device_of(sys, line.device);
      const auto option = [&](std::string_view name) {
        return has_option(line.options, name) || has_option(line.super_options, name);
      };
      // "dax=inode" leaves it to each file's flag, so it promises nothing.
      mount.dax = device.dax && (option("dax") || option("dax=always"));
      mount.nvme = device.nvme;
      mount.numa_node = device.numa_node;
      if (line.type == "tmpfs") mount.huge = option_value(line.super_options, "huge");
      const Space space = measure(line.path);
      mount.total = space.total;
      mount.available = space.available;
      mount.writable = space.writable && !option("ro");
      mount.executable = !option("noexec");
    }
    mount.medium = mount.dax ? Medium::fsdax : line.type == "tmpfs" ? Medium::tmpfs : Medium::file;
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::string mount_point_of(const std::string& path) {
  const auto text = read_file("/proc/self/mountinfo");
  std::string longest;
  for (const MountLine& line : visible(parse_mountinfo(text.value_or(""))))
    if (is_below(path, line.path) && line.path.size() >= longest.size()) longest = line.path;
  return longest;
}

std::vector<std::string> mounts_without_storage(const std::vector<MountLine>& lines) {
  std::vector<std::string> paths;
  for (const MountLine& line : visible(lines))
    if (contains(kNoStorage, line.type)) paths.push_back(line.path);
  return paths;
}

}  // namespace forebay::node
