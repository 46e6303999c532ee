#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "run/launch/processes.h"
#include "run/launch/writers.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto shortest_pause = 5ms, longest_pause = 200ms;
constexpr std::size_t most_named = 3;

using FileId = std::pair<dev_t, ino_t>;

// The file systems of a run's pools: as files tell them, and as mounts do.
struct Pools {
  std::set<dev_t> devices;
  std::set<std::string> systems;
};

std::string of_process(pid_t process, const char* what) {
  return fmt::format("/proc/{}/{}", process, what);
}

std::string text_of(pid_t process) {
  auto name = read_file(of_process(process, "comm"));
  while (name && name->ends_with('\n')) name->pop_back();
  return fmt::format("{} (process {})", name ? printable(*name) : "?", process);
}

// The number of the device and of the file in a line of /proc/PID/maps, where what is mapped is written to the file:
// "7f12a000-7f12b000 rw-s 00000000 00:1a 4711    /dev/shm/file".
std::optional<FileId> shared_mapping(std::string_view line) {
  std::vector<std::string_view> words = split(line, ' ');
  std::erase(words, std::string_view());
  if (words.size() < 5 || words[1].size() < 4 || words[1][1] != 'w' || words[1][3] != 's') return std::nullopt;
  unsigned major = 0, minor = 0;
  if (std::sscanf(std::string(words[3]).c_str(), "%x:%x", &major, &minor) != 2) return std::nullopt;
  const auto inode = parse_integer(words[4]);
  if (!inode || *inode == 0) return std::nullopt;
  return FileId{makedev(major, minor), static_cast<ino_t>(*inode)};
}

// The files on these devices that a process can write to by a descriptor or a mapping of its own.
std::set<FileId> written_by(pid_t process, const Pools& pools, node::FileSystems& systems) {
  std::set<FileId> files;
  for (const OpenFile& file : open_files(process, pools.systems, systems)) {
    const auto& status = file.status;
    if (file.writes && status && S_ISREG(status->st_mode) && status->st_nlink > 0 &&
        pools.devices.contains(status->st_dev))
      files.emplace(status->st_dev, status->st_ino);
  }
  const auto maps = read_file(of_process(process, "maps"));
  for (const std::string_view line : split(maps ? std::string_view(*maps) : std::string_view(), '\n'))
    if (const auto mapped = shared_mapping(line); mapped && pools.devices.contains(mapped->first))
      files.insert(*mapped);
  return files;
}

// Whether a process works in one of these directories or below: it may be about to open a file there.
bool works_in(pid_t process, const std::vector<node::Spot>& trees, node::FileSystems& systems) {
  const auto here = systems.working_directory(process);
  return here && std::ranges::any_of(trees, [&](const node::Spot& tree) { return lies_below(*here, tree); });
}

// The paths in the case of those that lie in the trees.
void find_below(const std::string& local, const std::string& path, std::map<FileId, std::string>& wanted) {
  const auto entries = list_directory(local);
  if (!entries) return;
  for (const DirectoryEntry& entry : *entries) {
    struct stat status {};
    const std::string below = join(local, entry.name);
    if (entry.type == DT_DIR) {
      find_below(below, join(path, entry.name), wanted);
    } else if (entry.type == DT_REG && ::lstat(below.c_str(), &status) == 0) {
      const auto found = wanted.find({status.st_dev, status.st_ino});
      if (found != wanted.end()) found->second = join(path, entry.name);
    }
  }
}

}  // namespace

drain::Writers find_writers(const PoolRun& run) {
  constexpr int most_passes = 5;
  node::FileSystems systems;
  Pools pools;
  struct stat status {};
  for (const std::string& directory : run.directories) {
    if (::stat(directory.c_str(), &status) == 0) pools.devices.insert(status.st_dev);
    if (const auto spot = systems.spot_of(directory)) pools.systems.insert(spot->device);
  }
  std::vector<node::Spot> trees;
  for (const drain::Root& root : run.roots())
    if (const auto spot = systems.spot_of(root.local)) trees.push_back(*spot);
  std::map<pid_t, std::set<FileId>> files_of;
  std::map<FileId, std::string> paths;
  std::vector<pid_t> of_run;
  std::set<pid_t> seen;
  // Until a pass finds no new one: who forks and ends while the list is taken may leave a child that is not in it.
  bool news = true;
  for (int pass = 0; news && pass < most_passes; ++pass) {
    std::vector<pid_t> processes = own_processes();
    std::erase_if(processes, [&](pid_t process) { return !seen.insert(process).second; });
    for (const pid_t process : processes) {
      std::set<FileId> files = written_by(process, pools, systems);
      for (const FileId& file : files) paths.emplace(file, std::string());
      if (!files.empty()) files_of.emplace(process, std::move(files));
      if (works_for(process, run.plan.run) || works_in(process, trees, systems)) of_run.push_back(process);
    }
    news = !processes.empty();
  }
  if (!paths.empty()) {
    for (const drain::Root& root : run.roots()) find_below(root.local, root.prefix, paths);
    for (const std::string& placed : run.placed) find_below(placed, "", paths);
  }
  drain::Writers writers;
  std::set<pid_t> writing;
  for (const auto& [process, files] : files_of) {
    std::vector<std::string> names;
    for (const FileId& file : files)
      if (!paths[file].empty()) names.push_back(paths[file]);
    if (names.empty()) continue;
    std::ranges::sort(names);
    writing.insert(process);
    writers.writing.push_back(fmt::format("{} has {} open for writing", text_of(process), listed(names, most_named)));
  }
  for (const pid_t process : of_run)
    if (!writing.contains(process)) writers.lingering.push_back(text_of(process));
  return writers;
}

void WriterWatch::begin() {
  writers_ = find_writers(run_);
  drain_.set_writers(writers_);
  pause_ = shortest_pause;
  next_ = clock_.now();
}

void WriterWatch::update() {
  const auto now = clock_.now();
  if (!drain_.waits_for_writers() || now < next_) return;
  writers_ = find_writers(run_);
  drain_.set_writers(writers_);
  pause_ = std::min<std::chrono::milliseconds>(2 * pause_, longest_pause);
  next_ = now + pause_;
}

std::chrono::milliseconds WriterWatch::pause() const {
  return drain_.waits_for_writers() ? pause_ : longest_pause;
}

std::vector<std::string> WriterWatch::waits_for() const {
  if (!drain_.waits_for_writers()) return {};
  if (!writers_.writing.empty()) return writers_.writing;
  std::vector<std::string> waits;
  for (const std::string& path : drain_.still_open())
    waits.push_back(fmt::format("a process that cannot be looked into has {} open for writing", printable(path)));
  if (waits.empty())
    for (const std::string& each : writers_.lingering) waits.push_back(each + " still runs");
  return waits;
}

}  // namespace forebay::launch
