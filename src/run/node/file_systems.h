// On which file system another process works and has files open, in the words of /proc alone: no link of it is followed
// and no path is looked up. Where such a link leads to a server that is dead, whoever follows it waits for ever.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/node/mounts.h"

namespace forebay::node {

// A place on a file system, wherever that is mounted.
struct Spot {
  std::string device;  // of the file system: "259:1"
  std::string path;    // from its root
};
bool lies_below(const Spot& spot, const Spot& directory);

// Where a path leads by these mounts, which are all visible. It is absolute and goes through no links.
std::optional<Spot> spot_of(const std::string& path, const std::vector<MountLine>& visible_mounts);

// Mounts of this process, and of others that have mounts of their own. They are read once, when they are asked for.
class FileSystems {
 public:
  FileSystems();
  std::optional<Spot> spot_of(const std::string& path);
  // Nothing of a process that has ended, or must not be looked into.
  std::optional<Spot> working_directory(pid_t process);
  // The device of the file system that an open file lies on. Empty: a pipe or socket, or on a mount that nobody has in
  // his tree any more.
  std::string device_of_open(pid_t process, int descriptor);

 private:
  struct Namespace {
    std::vector<MountLine> seen;
    std::map<int, std::string> device_of_mount;
  };
  const Namespace& namespace_of(pid_t process);

  std::string own_;  // the name of this process' mount namespace
  std::map<std::string, Namespace> namespaces_;
};

}  // namespace forebay::node
