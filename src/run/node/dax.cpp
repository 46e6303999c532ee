#include "run/node/observe.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace forebay::node {
namespace {

std::vector<std::string> dax_names(const std::string& directory) {
  std::vector<std::string> names;
  if (const auto entries = list_directory(directory))
    for (const DirectoryEntry& entry : *entries)
      if (entry.name.starts_with("dax")) names.push_back(entry.name);
  std::ranges::sort(names);
  return names;
}

std::string why_not(const std::string& device, const std::string& driver) {
  if (driver == "kmem") return "the kernel uses it as memory";
  if (::faccessat(AT_FDCWD, device.c_str(), R_OK | W_OK, AT_EACCESS) == 0) return {};
  return errno == ENOENT ? "there is no such file; was it made with --mode=devdax?"
                         : "this user cannot read and write it";
}

}  // namespace

std::vector<DaxDevice> dax_devices(const std::string& sys, const std::string& dev) {
  const std::string bus = sys + "/bus/dax/devices";
  std::vector<std::string> names = dax_names(bus);
  if (names.empty()) names = dax_names(dev);  // kernels before 5.1 have no such bus
  const auto root = real_path(sys);
  std::vector<DaxDevice> devices;
  for (const std::string& name : names) {
    DaxDevice device;
    device.path = join(dev, name);
    std::string driver;
    if (const auto directory = real_path(bus + "/" + name); directory && root) {
      const auto bytes = parse_integer(small_file(*directory + "/size"));
      if (bytes && *bytes > 0) device.bytes = static_cast<std::uint64_t>(*bytes);
      device.numa_node = numa_node_above(*directory, *root);
      if (const auto link = real_path(*directory + "/driver")) driver = forebay::name_of(*link);
    }
    device.why_not = why_not(device.path, driver);
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace forebay::node
