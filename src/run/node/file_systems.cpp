#include "run/node/file_systems.h"

#include <fmt/format.h>

namespace forebay::node {
namespace {

std::string in_proc(pid_t process, std::string_view what) {
  return fmt::format("/proc/{}/{}", process, what);
}

// The number behind "mnt_id:" (proc(5)).
std::optional<int> mount_of_open(const std::string& fdinfo) {
  constexpr std::string_view key = "mnt_id:";
  for (const std::string_view line : split(fdinfo, '\n')) {
    if (!line.starts_with(key)) continue;
    const std::size_t digits = line.find_first_not_of(" \t", key.size());
    const auto number = digits == std::string_view::npos ? std::nullopt : parse_integer(line.substr(digits));
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

bool lies_below(const Spot& spot, const Spot& directory) {
  return spot.device == directory.device && is_below(spot.path, directory.path);
}

std::optional<Spot> spot_of(const std::string& path, const std::vector<MountLine>& visible_mounts) {
  const MountLine* best = nullptr;
  for (const MountLine& line : visible_mounts)
    if (is_below(path, line.path) && (best == nullptr || line.path.size() >= best->path.size())) best = &line;
  if (best == nullptr) return std::nullopt;
  const std::string rest = best->path == "/" ? path : path.substr(best->path.size());
  return Spot{best->device, best->root == "/" ? (rest.empty() ? "/" : rest) : best->root + (rest == "/" ? "" : rest)};
}

FileSystems::FileSystems() : own_(read_link("/proc/self/ns/mnt").value_or(std::string())) {}

const FileSystems::Namespace& FileSystems::namespace_of(pid_t process) {
  const std::string name = process == 0 ? own_ : read_link(in_proc(process, "ns/mnt")).value_or(own_);
  const auto [at, is_new] = namespaces_.try_emplace(name);
  if (!is_new) return at->second;
  const auto text = read_file(name == own_ ? "/proc/self/mountinfo" : in_proc(process, "mountinfo"));
  if (!text) return at->second;
  const std::vector<MountLine> lines = parse_mountinfo(*text);
  for (const MountLine& line : lines) at->second.device_of_mount.emplace(line.id, line.device);
  at->second.seen = visible(lines);
  return at->second;
}

std::optional<Spot> FileSystems::spot_of(const std::string& path) {
  return node::spot_of(path, namespace_of(0).seen);
}

std::optional<Spot> FileSystems::working_directory(pid_t process) {
  const auto path = read_link(in_proc(process, "cwd"));
  if (!path) return std::nullopt;
  return node::spot_of(*path, namespace_of(process).seen);
}

std::string FileSystems::device_of_open(pid_t process, int descriptor) {
  const auto fdinfo = read_file(in_proc(process, fmt::format("fdinfo/{}", descriptor)), 4096);
  const auto mount = fdinfo ? mount_of_open(*fdinfo) : std::nullopt;
  if (!mount) return {};
  // It may have been opened before its process got mounts of its own.
  for (const Namespace* each : {&namespace_of(process), &namespace_of(0)})
    if (const auto found = each->device_of_mount.find(*mount); found != each->device_of_mount.end())
      return found->second;
  return {};
}

}  // namespace forebay::node
