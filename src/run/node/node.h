// node: sockets, mounts and pools of one node, and which rank uses which pool.
//
// Promises: looks, never writes. Decisions (choose_pools, place_ranks) are pure functions of plain values, so they are
// tested for machines that are not here; observe() gathers those values by hwloc, /proc and /sys.
// HWLOC_SYNTHETIC and HWLOC_XMLFILE are honoured, as hwloc does.
// Must not know: cases, trees, drains.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base.h"

namespace forebay::node {

// The medium that the local bytes of a pool lie on.
enum class Medium { fsdax, devdax, tmpfs, file };
std::string name_of(Medium medium);

struct Socket {
  int index = 0;                // 0.. in hwloc's logical order
  std::vector<int> cpus;        // operating system's numbers, sorted
  int cores = 0;                // physical ones; 0: as many as cpus
  std::vector<int> numa_nodes;  // operating system's numbers
};

struct Mount {
  std::string path;    // mount point
  std::string type;    // "ext4", "xfs", "tmpfs", ...
  std::string source;  // "/dev/pmem0"
  Medium medium = Medium::file;
  bool dax = false;        // mounted with dax and on a device that has it
  bool node_local = true;  // false for network and parallel file systems
  bool nvme = false;       // on a non-rotating local block device
  std::string huge;        // tmpfs: the huge= option, else ""
  std::optional<int> numa_node;
  std::uint64_t total = 0, available = 0;  // bytes, available to this user
  bool writable = false;                   // this user can make a directory at `path`
  bool executable = true;                  // not mounted noexec
};

// Persistent memory without a file system (device DAX). It holds trajectories, and no files.
struct DaxDevice {
  std::string path;         // "/dev/dax0.0"
  std::uint64_t bytes = 0;  // 0: unknown
  std::optional<int> numa_node;
  std::string why_not;  // why no trajectory can lie there for this user; empty when one can
};

// The known facts about a node. Plain values: a test makes one by hand.
struct Machine {
  std::string node;  // host name
  std::vector<Socket> sockets;
  std::vector<Mount> mounts;
  std::vector<std::string> without_storage;  // where file systems are mounted that keep no files: /proc, /sys
  std::vector<DaxDevice> dax_devices;
  std::uint64_t memory_total = 0, memory_available = 0;  // bytes
  // The memory that the tightest control group still allows: its limit less what it uses and cannot give back.
  std::optional<std::uint64_t> cgroup_headroom;
  std::vector<std::string> temporary;  // directories for a last resort: $TMPDIR, /tmp
};
// Loads the topology (a few milliseconds). Never touches a network file system, so a dead server cannot hang it.
Result<Machine> observe();
// The socket that holds most of `cpus`, -1 when `cpus` spans several evenly or is empty.
int socket_of(const Machine& machine, const std::vector<int>& cpus);

// The user's wishes; defaults choose by themselves.
struct PoolSettings {
  // Directories to use, in the order of sockets; "{socket}" stands for the socket's index. Empty: find them.
  std::vector<std::string> paths;
  double memory_share = 0.25;           // of available memory, for all pools in tmpfs together
  std::optional<std::uint64_t> budget;  // bytes per pool, instead of the share (tmpfs) or the free space (others)
};

struct Pool {
  std::string path;  // an existing directory in which runs make their own private one
  Medium medium = Medium::file;
  int socket = -1;           // whose pool it is; -1: every socket's
  std::uint64_t budget = 0;  // bytes this run may fill, all things considered
  std::string why;           // one line for doctor: "fsdax mount of NUMA node 1"
  bool executable = true;    // programs and libraries that lie in it can be used
};

// The mount that `path` lies on, by its text; null where there is none.
const Mount* mount_of(const Machine& machine, const std::string& path);

// The mount point under which `path` lies by its text now, whether it is there or not; empty where nothing tells.
std::string mount_point_of(const std::string& path);

// Why a mount is not taken for a pool unless it is named: "read-only", "less than 128 MB free", ...; empty when it may
// be.
std::string why_not(const Mount& mount);

// A path that somebody named, as it turns out to be.
struct Directory {
  std::string path;  // with all links resolved; empty when there is nothing
  bool is_directory = false;
  bool writable = false;        // this user can make a directory in it
  std::uint64_t available = 0;  // bytes, quotas of the directory included where the file system tells
};
Directory find_directory(const std::string& path);
using FindDirectory = std::function<Directory(const std::string&)>;

// One pool per socket, in the order of sockets. fsdax mounts of the socket's NUMA node first, else a node-local NVMe
// file system, else tmpfs (/dev/shm), else a temporary directory. Two sockets may share a path; then they share its
// space. Errors name the path and what to do (not a directory, not writable, shared, ...). Pure but for `find`, which
// is asked about named and temporary directories only.
Result<std::vector<Pool>> choose_pools(const Machine& machine, const PoolSettings& settings,
                                       const FindDirectory& find = find_directory);

struct RankPlace {
  int rank = 0;
  std::string node;
  int socket = 0;
  std::string pool;  // path
};
struct Placement {
  std::vector<RankPlace> ranks;  // by rank
  std::string text() const;      // a table for people, neighbouring ranks of one pool in one line
  std::string json()
      const;  // {"forebay_version":"0.1.0","ranks":[{"rank":0,"node":"n1","socket":0,"pool":"/mnt/pmem_fsdax0"}, ...]}
};
// The order in which a launcher hands out ranks.
enum class Order {
  by_core,    // node after node, in each socket after socket
  by_socket,  // node after node, in each round the sockets
  by_node,    // round the nodes, in each socket after socket
};
// Where `ranks` go on nodes with this many slots each, all like `machine` (a forecast: what holds is where each process
// finds itself).
Placement place_ranks(const std::vector<std::pair<std::string, int>>& nodes, int ranks, Order order,
                      const Machine& machine, const std::vector<Pool>& pools);

// The calling process's binding, as the operating system's cpu numbers, and the cpu it runs on now. No topology is
// loaded; takes microseconds.
struct Whereabouts {
  std::vector<int> allowed;
  int cpu = -1;
};
Whereabouts whereabouts();
// From whereabouts to a socket: the binding if it lies in one socket, else the cpu; -1 when the machine has neither.
int socket_of(const Machine& machine, const Whereabouts& where);

}  // namespace forebay::node
