#include <linux/types.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>

#include "run/contract/contract.h"
#include "run/launch/processes.h"

namespace forebay::launch {
namespace {

// The struct pidfd_info of <linux/pidfd.h>, which older headers lack.
struct EndedProcess {
  __u64 mask, cgroup;
  __u32 pid, thread_group, parent, users[8];
  __s32 exit_code;
};
static_assert(sizeof(EndedProcess) == 64);
constexpr unsigned long get_info = _IOWR(0xFF, 11, EndedProcess);
constexpr __u64 has_exit_code = 1U << 3;

// "pid (name) state parent ...": the name may hold anything, so from its last parenthesis on.
std::vector<std::string> words_of(pid_t process) {
  const auto stat = read_file("/proc/" + std::to_string(process) + "/stat", 4096);
  const std::size_t end = stat ? stat->rfind(") ") : std::string::npos;
  if (end == std::string::npos) return {};
  std::vector<std::string> words;
  for (const std::string_view word : split(std::string_view(*stat).substr(end + 2), ' ')) words.emplace_back(word);
  if (!words.empty() && words.back().ends_with('\n')) words.back().pop_back();
  return words;
}

constexpr std::size_t state_word = 0, parent_word = 1, flags_word = 6, start_word = 19, exit_code_word = 49;

bool has_variable(pid_t process, const std::string& assignment) {
  const auto environment = read_file("/proc/" + std::to_string(process) + "/environ");
  if (!environment) return false;
  const auto words = split(*environment, '\0');
  return std::ranges::find(words, assignment) != words.end();
}

bool has_ended(pid_t process) {
  const auto words = words_of(process);
  return words.size() <= state_word || words[state_word] == "Z" || words[state_word] == "X";
}

// As which number each namespace knows it: it calls itself by the innermost.
std::vector<std::string> numbers_of(pid_t process) {
  std::vector<std::string> numbers{std::to_string(process)};
  const auto status = read_file("/proc/" + std::to_string(process) + "/status");
  constexpr std::string_view key = "\nNSpid:\t";
  const std::size_t begin = status ? status->find(key) : std::string::npos;
  if (begin == std::string::npos) return numbers;
  const std::string_view rest = std::string_view(*status).substr(begin + key.size());
  for (const std::string_view number : split(rest.substr(0, rest.find('\n')), '\t')) numbers.emplace_back(number);
  return numbers;
}

std::multimap<pid_t, pid_t> by_parent() {
  std::multimap<pid_t, pid_t> children;
  const auto entries = list_directory("/proc");
  if (!entries) return children;
  for (const DirectoryEntry& entry : *entries) {
    const auto process = parse_integer(entry.name);
    if (!process) continue;
    const auto words = words_of(static_cast<pid_t>(*process));
    const auto parent = words.size() > parent_word ? parse_integer(words[parent_word]) : std::nullopt;
    if (parent) children.emplace(static_cast<pid_t>(*parent), static_cast<pid_t>(*process));
  }
  return children;
}

// Its descriptors, each with the link that /proc has for it, until `use` wants no more.
void each_descriptor(pid_t process, const std::function<bool(OpenFile, const std::string&)>& use) {
  const std::string directory = "/proc/" + std::to_string(process) + "/fd";
  const auto entries = list_directory(directory);
  if (!entries) return;
  for (const DirectoryEntry& entry : *entries) {
    struct stat link {};
    const std::string path = join(directory, entry.name);
    // The link's mode says how the file was opened.
    if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) continue;
    const OpenFile file{static_cast<int>(parse_integer(entry.name).value_or(-1)), (link.st_mode & S_IRUSR) != 0,
                        (link.st_mode & S_IWUSR) != 0};
    if (!use(file, path)) return;
  }
}

// The number of the pipe that a link of /proc names: "pipe:[4711]". 0: it names something else.
ino_t pipe_of(const std::string& link) {
  constexpr std::string_view before = "pipe:[", after = "]";
  const auto name = read_link(link);
  if (!name || !name->starts_with(before) || !name->ends_with(after)) return 0;
  const std::string_view number(*name);
  return static_cast<ino_t>(
      parse_integer(number.substr(before.size(), number.size() - before.size() - after.size())).value_or(0));
}

constexpr std::int64_t is_ending = 0x4;  // PF_EXITING of <linux/sched.h>: set before the files are closed

}  // namespace

std::vector<pid_t> with_descendants(const std::vector<pid_t>& roots) {
  const std::multimap<pid_t, pid_t> children = by_parent();
  std::vector<pid_t> all = roots;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [first, last] = children.equal_range(all[i]);
    for (auto child = first; child != last; ++child) all.push_back(child->second);
  }
  return all;
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  for (const auto& [parent, child] : by_parent())
    if (parent == process) children.push_back(child);
  return children;
}

std::vector<OpenFile> open_files(pid_t process, const std::set<std::string>& devices, node::FileSystems& systems) {
  std::vector<OpenFile> files;
  each_descriptor(process, [&](OpenFile file, const std::string& path) {
    file.pipe = pipe_of(path);
    struct stat status {};
    if (file.pipe == 0 && devices.contains(systems.device_of_open(process, file.number)) &&
        ::stat(path.c_str(), &status) == 0)
      file.status = status;
    files.push_back(file);
    return true;
  });
  return files;
}

bool reads_pipe(pid_t process, const std::set<ino_t>& pipes) {
  bool reads = false;
  each_descriptor(process, [&](const OpenFile& file, const std::string& path) {
    reads = file.reads && pipes.contains(pipe_of(path));
    return !reads;
  });
  return reads;
}

void pause_processes(const std::vector<pid_t>& processes, bool paused) {
  for (const pid_t process : processes) ::kill(process, paused ? SIGSTOP : SIGCONT);
}

Result<Descriptor> watch_process(pid_t process) {
  Descriptor watch(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!watch) return errno_error("cannot watch process", std::to_string(process));
  return watch;
}

std::optional<int> status_of_ended(const Descriptor& watch, pid_t process) {
  // As long as it is dead and not asked for, /proc tells.
  if (const auto words = words_of(process); words.size() > exit_code_word && words[0] == "Z")
    if (const auto code = parse_integer(words[exit_code_word])) return static_cast<int>(*code);
  EndedProcess ended{};
  ended.mask = has_exit_code;
  if (::ioctl(watch.get(), get_info, &ended) == 0 && (ended.mask & has_exit_code) != 0) return ended.exit_code;
  return std::nullopt;
}

bool is_working_itself(pid_t process) {
  const auto words = words_of(process);
  const auto flags = words.size() > flags_word ? parse_integer(words[flags_word]) : std::nullopt;
  if (!flags || (*flags & is_ending) != 0 || words[state_word] == "Z" || words[state_word] == "X") return false;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  const auto threads = list_directory(tasks);
  if (!threads) return false;
  return std::ranges::all_of(*threads, [&](const DirectoryEntry& thread) {
    const auto children = read_file(join(join(tasks, thread.name), "children"), std::size_t{1} << 20);
    return !children || children->empty();  // kernels may lack this file
  });
}

std::optional<double> started_at(pid_t process) {
  const auto words = words_of(process);
  const auto ticks = words.size() > start_word ? parse_integer(words[start_word]) : std::nullopt;
  if (!ticks) return std::nullopt;
  return static_cast<double>(*ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

bool works_for(pid_t process, const std::string& run) {
  return has_variable(process, contract::run_variable + ("=" + run));
}

std::vector<pid_t> own_processes() {
  std::vector<pid_t> found;
  const auto entries = list_directory("/proc");
  if (!entries) return found;
  for (const DirectoryEntry& entry : *entries) {
    const auto process = parse_integer(entry.name);
    struct stat status {};
    if (!process || *process == ::getpid() || ::stat(("/proc/" + entry.name).c_str(), &status) != 0) continue;
    if (status.st_uid != ::geteuid() || has_ended(static_cast<pid_t>(*process))) continue;
    found.push_back(static_cast<pid_t>(*process));
  }
  return found;
}

std::vector<pid_t> processes_of(const std::string& run) {
  std::vector<pid_t> found = own_processes();
  std::erase_if(found, [&](pid_t process) { return !works_for(process, run); });
  return found;
}

std::vector<pid_t> ranks_of(const std::string& run) {
  std::vector<pid_t> found = processes_of(run);
  std::erase_if(found, [](pid_t process) {
    const auto numbers = numbers_of(process);
    return std::ranges::none_of(numbers, [&](const std::string& number) {
      return has_variable(process, std::string(process_variable) + "=" + number);
    });
  });
  return found;
}

}  // namespace forebay::launch
