// Mounts as the kernel lists them, and what lies under them. Internal to node.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "run/node/node.h"

namespace forebay::node {

// A line of /proc/self/mountinfo (proc(5)), octal escapes resolved.
struct MountLine {
  int id = 0, parent = 0;
  std::string device;  // "259:1", as under /sys/dev/block
  std::string root;    // which directory of the file system is mounted
  std::string path, options, type, source, super_options;
};
// Lines that cannot be read are left out.
std::vector<MountLine> parse_mountinfo(std::string_view text);
// The lines but for those that another mount hides.
std::vector<MountLine> visible(const std::vector<MountLine>& lines);
// True when "ro", "dax", "huge=..." is among comma-separated options.
bool has_option(std::string_view options, std::string_view option);

// The block device under a mount, from sysfs.
struct Device {
  bool dax = false;
  bool nvme = false;  // NVMe by name, not rotating
  std::optional<int> numa_node;
};
// `sys` is "/sys", or a test's own tree; `number` is "259:1". Partitions, device mapper and md are followed to their
// disks.
Device device_of(const std::string& sys, const std::string& number);

// Every mount that stores files, node-local or not; sizes and `writable` are asked of `measure` for node-local ones
// only.
struct Space {
  std::uint64_t total = 0, available = 0;
  bool writable = false;
};
using MeasureMount = std::function<Space(const std::string& path)>;
std::vector<Mount> storage_mounts(const std::vector<MountLine>& lines, const std::string& sys,
                                  const MeasureMount& measure);
Space measure_mount(const std::string& path);
// Whether the way to a path leads through a file system that is not the node's own, and may not answer. The root's file
// system does not count: where that is gone nothing works.
bool lies_behind_others(const std::string& path, const std::vector<MountLine>& lines);
// Where the others are mounted that are seen: /proc, /sys.
std::vector<std::string> mounts_without_storage(const std::vector<MountLine>& lines);

}  // namespace forebay::node
