// Which pools a run gets. Every decision here is a function of a Machine.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "run/node/node.h"

namespace forebay::node {
namespace {

// A mount with less than this is not chosen by itself: a run would stand still at once.
constexpr std::uint64_t kLeastSpace = 128'000'000;
// A run takes at most this part of the free space of a disk that the whole system uses (a last resort).
constexpr double kShareOfSystemDisk = 0.5;

// Directories that belong to the system or to people's homes, not to jobs, even where they are fast mounts.
constexpr std::array<std::string_view, 10> kSystemTrees{"/run", "/sys",  "/boot", "/etc", "/home",
                                                        "/opt", "/root", "/snap", "/usr", "/var"};

// A pool and the space it may use, before budgets are shared out.
struct Candidate {
  Pool pool;
  std::string mount;            // pools of one mount share its space
  std::uint64_t available = 0;  // of the mount, for all its pools together
};

// Memory that a job may still use: the node's, or less where a control group says so.
std::uint64_t usable_memory(const Machine& machine) {
  return std::min(machine.memory_available, machine.cgroup_headroom.value_or(machine.memory_available));
}

std::uint64_t share_of(double share, std::uint64_t bytes) {
  return static_cast<std::uint64_t>(std::floor(share * static_cast<double>(bytes)));
}

std::string memory_words(const Machine& machine, const PoolSettings& settings) {
  const bool limited = machine.cgroup_headroom && *machine.cgroup_headroom < machine.memory_available;
  return fmt::format("{:g} % of the {} that {}", settings.memory_share * 100, human_bytes(usable_memory(machine)),
                     limited ? "the control group leaves" : "are available");
}

// Sets the budgets: the space of a mount is split over its pools, the share of memory over all pools in tmpfs.
std::vector<Pool> with_budgets(const Machine& machine, const PoolSettings& settings,
                               std::vector<Candidate> candidates) {
  const auto in_tmpfs = [](const Candidate& candidate) { return candidate.pool.medium == Medium::tmpfs; };
  const auto memory_pools = static_cast<std::uint64_t>(std::ranges::count_if(candidates, in_tmpfs));
  std::vector<Pool> pools;
  for (const Candidate& candidate : candidates) {
    Pool pool = candidate.pool;
    const auto neighbours = static_cast<std::uint64_t>(
        std::ranges::count_if(candidates, [&](const Candidate& other) { return other.mount == candidate.mount; }));
    const std::uint64_t space = candidate.available / neighbours;
    // The bytes that physically fit, whatever was asked for, and those that are taken without being asked.
    std::uint64_t most = space, usual = space;
    if (in_tmpfs(candidate)) {
      most = std::min(space, usable_memory(machine) / memory_pools);
      usual = std::min(space, share_of(settings.memory_share, usable_memory(machine)) / memory_pools);
    }
    pool.budget = std::min(settings.budget.value_or(usual), most);
    const Mount* mount = mount_of(machine, candidate.mount);
    pool.executable = mount == nullptr || mount->executable;
    if (!pool.executable) pool.why += ", mounted noexec";
    if (neighbours > 1) pool.why += ", shared by " + plural(neighbours, "socket");
    if (in_tmpfs(candidate) && !settings.budget) pool.why += "; " + memory_words(machine, settings);
    if (settings.budget && *settings.budget > most)
      pool.why +=
          fmt::format("; only {} of the {} asked for are there", human_bytes(most), human_bytes(*settings.budget));
    pools.push_back(std::move(pool));
  }
  return pools;
}

std::string with_socket(std::string path, int socket) {
  static constexpr std::string_view kPlaceholder = "{socket}";
  for (std::size_t at = path.find(kPlaceholder); at != std::string::npos; at = path.find(kPlaceholder))
    path.replace(at, kPlaceholder.size(), std::to_string(socket));
  return path;
}

// /proc, /sys: a mount above it may be the node's own.
bool keeps_no_files(const Machine& machine, const std::string& path) {
  const Mount* mount = mount_of(machine, path);
  return std::ranges::any_of(machine.without_storage, [&](const std::string& other) {
    return is_below(path, other) && (mount == nullptr || mount->path.size() < other.size());
  });
}

Result<Candidate> named_candidate(const Machine& machine, const std::string& path, int socket,
                                  const FindDirectory& find) {
  static constexpr std::string_view kAdvice =
      "name a directory on a file system of the node itself in pool.paths, or leave it out to let forebay choose";
  if (!path.starts_with('/')) return error(Code::bad_input, "pool path is not absolute:", path, kAdvice);
  // The text is looked up first: a dead server must not be waited for only to be refused.
  if (const Mount* mount = mount_of(machine, path); mount != nullptr && !mount->node_local)
    return error(Code::bad_input,
                 fmt::format("pool path is on {} ({}), which is not this node's own:", mount->path, mount->type), path,
                 kAdvice);
  const Directory directory = find(path);
  if (directory.path.empty())
    return error(Code::bad_input, "pool path does not exist:", path, "make it first, or correct pool.paths");
  const auto is_this = [&](const DaxDevice& device) { return device.path == directory.path; };
  if (std::ranges::any_of(machine.dax_devices, is_this))
    return error(Code::bad_input, "pool path is a device without a file system, which holds trajectories only:", path,
                 kAdvice);
  if (!directory.is_directory) return error(Code::bad_input, "pool path is not a directory:", path, kAdvice);
  if (keeps_no_files(machine, directory.path))
    return error(Code::bad_input, "pool path is on a file system that keeps no files:", path, kAdvice);
  const Mount* mount = mount_of(machine, directory.path);
  if (mount == nullptr) return error(Code::bad_input, "pool path is on no known file system:", path, kAdvice);
  if (!mount->node_local)
    return error(Code::bad_input,
                 fmt::format("pool path leads to {} ({}), which is not this node's own:", mount->path, mount->type),
                 path, kAdvice);
  if (!directory.writable) return error(Code::bad_input, "pool path is not writable for this user:", path, kAdvice);
  return Candidate{{directory.path, mount->medium, socket, 0, "named in pool.paths, " + name_of(mount->medium)},
                   mount->path,
                   directory.available};
}

Result<std::vector<Candidate>> named_candidates(const Machine& machine, const PoolSettings& settings,
                                                const FindDirectory& find) {
  const std::vector<std::string>& paths = settings.paths;
  if (paths.size() != 1 && paths.size() != machine.sockets.size())
    return error(Code::bad_input,
                 fmt::format("pool.paths names {}, but {} has {}", plural(paths.size(), "directory"), machine.node,
                             plural(machine.sockets.size(), "socket")),
                 {}, "name one per socket, or one with {socket} in it, or one for all");
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < machine.sockets.size(); ++i) {
    const int socket = machine.sockets[i].index;
    auto candidate = named_candidate(machine, with_socket(paths[paths.size() == 1 ? 0 : i], socket), socket, find);
    if (!candidate) return forward(candidate);
    candidates.push_back(std::move(*candidate));
  }
  return candidates;
}

bool serves(const Socket& socket, const Mount& mount) {
  return mount.numa_node && std::ranges::find(socket.numa_nodes, *mount.numa_node) != socket.numa_nodes.end();
}

// The mount among `mounts` for the `turn`-th socket: its own, the roomiest of several; else, in turn, one that tells no
// NUMA node; else another socket's, in turn.
Candidate nearest(const std::vector<const Mount*>& mounts, const Socket& socket, std::size_t turn,
                  std::string_view kind) {
  std::vector<const Mount*> own, unknown;
  for (const Mount* mount : mounts) {
    if (serves(socket, *mount)) own.push_back(mount);
    if (!mount->numa_node) unknown.push_back(mount);
  }
  const Mount* best = nullptr;
  std::string why(kind);
  if (!own.empty()) {
    best = *std::ranges::max_element(own, [](const Mount* a, const Mount* b) { return a->available < b->available; });
    why += fmt::format(" of NUMA node {}", *best->numa_node);
  } else if (!unknown.empty()) {
    best = unknown[turn % unknown.size()];
    why += " that tells no NUMA node";
  } else {
    best = mounts[turn % mounts.size()];
    why += fmt::format(" of NUMA node {}, as the socket has none of its own", *best->numa_node);
  }
  return {{best->path, best->medium, socket.index, 0, why}, best->path, best->available};
}

template <class Wanted>
std::vector<Candidate> found_on(const Machine& machine, std::string_view kind, const Wanted& wanted) {
  std::vector<const Mount*> mounts;
  for (const Mount& mount : machine.mounts)
    if (why_not(mount).empty() && wanted(mount)) mounts.push_back(&mount);
  // A mount that is noexec serves only where no other does.
  const auto is_executable = [](const Mount* mount) { return mount->executable; };
  if (std::ranges::any_of(mounts, is_executable)) std::erase_if(mounts, std::not_fn(is_executable));
  std::ranges::sort(mounts, [](const Mount* a, const Mount* b) { return a->path < b->path; });
  std::vector<Candidate> candidates;
  if (mounts.empty()) return candidates;
  for (std::size_t i = 0; i < machine.sockets.size(); ++i)
    candidates.push_back(nearest(mounts, machine.sockets[i], i, kind));
  return candidates;
}

std::vector<Candidate> for_every_socket(const Machine& machine, const Candidate& one) {
  std::vector<Candidate> candidates(machine.sockets.size(), one);
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].pool.socket = machine.sockets[i].index;
  return candidates;
}

Result<std::vector<Candidate>> temporary_candidates(const Machine& machine, const FindDirectory& find) {
  for (const std::string& path : machine.temporary) {
    const Mount* by_text = mount_of(machine, path);
    if (by_text != nullptr && !by_text->node_local) continue;
    const Directory directory = find(path);
    const Mount* mount = directory.path.empty() ? nullptr : mount_of(machine, directory.path);
    if (mount == nullptr || !mount->node_local || !directory.writable) continue;
    const std::uint64_t available = share_of(kShareOfSystemDisk, directory.available);
    if (available < kLeastSpace) continue;
    return for_every_socket(machine, {{directory.path, mount->medium, -1, 0,
                                       "temporary directory, the last resort as /dev/shm is not usable; at most half "
                                       "of what is free"},
                                      mount->path,
                                      available});
  }
  return error(
      Code::bad_input, "no place for a pool found on", machine.node,
      "name a directory of the node with enough free space in pool.paths; forebay doctor lists what was tried");
}

Result<std::vector<Candidate>> found_candidates(const Machine& machine, const PoolSettings& settings,
                                                const FindDirectory& find) {
  auto fsdax = found_on(machine, "fsdax mount", [](const Mount& mount) { return mount.medium == Medium::fsdax; });
  if (!fsdax.empty()) return fsdax;
  auto nvme = found_on(machine, "node-local NVMe file system", [](const Mount& mount) { return mount.nvme; });
  if (!nvme.empty()) return nvme;
  const auto shm = std::ranges::find_if(machine.mounts, [](const Mount& mount) {
    return mount.path == "/dev/shm" && mount.medium == Medium::tmpfs && why_not(mount).empty();
  });
  const std::uint64_t memory = settings.budget.value_or(share_of(settings.memory_share, usable_memory(machine)));
  if (shm != machine.mounts.end() && memory >= kLeastSpace)
    return for_every_socket(
        machine,
        {{shm->path, Medium::tmpfs, -1, 0, "tmpfs, no persistent memory or NVMe found"}, shm->path, shm->available});
  return temporary_candidates(machine, find);
}

}  // namespace

const Mount* mount_of(const Machine& machine, const std::string& path) {
  const Mount* best = nullptr;
  for (const Mount& mount : machine.mounts)
    if (is_below(path, mount.path) && (best == nullptr || mount.path.size() >= best->path.size())) best = &mount;
  return best;
}

std::string why_not(const Mount& mount) {
  if (!mount.node_local) return "not this node's own";
  const auto holds_mount = [&](std::string_view tree) { return is_below(mount.path, tree); };
  if (mount.path == "/" || std::ranges::any_of(kSystemTrees, holds_mount)) return "the system's own";
  if (!mount.writable) return "not writable";
  if (mount.available < kLeastSpace) return "less than " + human_bytes(kLeastSpace) + " free";
  return {};
}

Result<std::vector<Pool>> choose_pools(const Machine& machine, const PoolSettings& settings,
                                       const FindDirectory& find) {
  if (machine.sockets.empty()) return error(Code::failed, "no sockets found on", machine.node);
  if (!(settings.memory_share > 0 && settings.memory_share <= 1))
    return error(Code::bad_input, fmt::format("pool.memory_share is {}, not between 0 and 1", settings.memory_share));
  auto candidates =
      settings.paths.empty() ? found_candidates(machine, settings, find) : named_candidates(machine, settings, find);
  if (!candidates) return forward(candidates);
  return with_budgets(machine, settings, std::move(*candidates));
}

}  // namespace forebay::node
