#include "run/cli/doctor_host.h"

#include <pwd.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/base.h"
#include "base/question.h"
#include "run/launch/worker.h"

namespace forebay::cli {
namespace {

std::string first_line(const std::string& path) {
  const auto content = read_file(path, 1 << 16);
  return content ? std::string(split(*content, '\n').front()) : std::string();
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto value = parse_integer(first_line(path));
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

// "always within_size [advise] never" -> "advise".
std::string chosen_word(const std::string& switch_line) {
  const std::size_t open = switch_line.find('['), close = switch_line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return switch_line;
  return switch_line.substr(open + 1, close - open - 1);
}

std::vector<std::string> names_below(const std::string& directory, std::string_view beginning) {
  std::vector<std::string> names;
  const auto entries = list_directory(directory);
  if (!entries) return names;
  for (const DirectoryEntry& entry : *entries)
    if (entry.name.starts_with(beginning)) names.push_back(entry.name);
  return names;
}

// The value that a systemd configuration file gives last to a key.
void last_value(const std::string& path, std::string_view key, std::string& value) {
  const auto content = read_file(path, 1 << 20);
  if (!content) return;
  for (const std::string_view line : split(*content, '\n'))
    if (line.starts_with(key) && line.substr(key.size(), 1) == "=") value = line.substr(key.size() + 1);
}

bool logind_empties_shm(const std::string& root, uid_t user, Clock& clock) {
  if (!name_exists(root + "/run/systemd/system")) return false;  // sd_booted(3): no systemd here
  // System users and those who linger are spared (logind.conf(5), loginctl(1)).
  if (user < 1000 || user == 65534) return false;
  if (const auto entry = account_of(user, clock))
    if (name_exists(root + "/var/lib/systemd/linger/" + entry->name)) return false;
  std::string value = "yes";
  last_value(root + "/etc/systemd/logind.conf", "RemoveIPC", value);
  // Files in these directories come later than the main one, sorted by name whatever the directory.
  std::vector<std::pair<std::string, std::string>> additions;
  for (const char* directory :
       {"/usr/lib/systemd/logind.conf.d", "/run/systemd/logind.conf.d", "/etc/systemd/logind.conf.d"})
    for (const std::string& name : names_below(root + directory, ""))
      additions.emplace_back(name, root + directory + "/" + name);
  std::ranges::stable_sort(additions, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, path] : additions) last_value(path, "RemoveIPC", value);
  return value != "no" && value != "false" && value != "0" && value != "off";
}

// So long a directory of users or of programs, and a launcher, may take to answer.
constexpr std::chrono::milliseconds answers_within{2'000};

// The first line that `path --version` prints in time.
std::string version_line(const std::string& path, Clock& clock) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = path, flag = "--version";
  const std::array<char*, 3> arguments{program.data(), flag.data(), nullptr};
  pid_t child = 0;
  const int trouble = ::posix_spawn(&child, path.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  out.reset();
  if (trouble != 0) return {};

  std::string text;
  const auto deadline = clock.now() + answers_within;
  for (bool more = true; more && text.find('\n') == std::string::npos;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock.now());
    pollfd ready{in.get(), POLLIN, 0};
    more = left.count() > 0 && clock.poll({&ready, 1}, left) > 0;
    std::array<char, 512> buffer{};
    const ssize_t got = more ? ::read(in.get(), buffer.data(), buffer.size()) : 0;
    more = got > 0;
    if (more) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  (void)launch::kill_worker(child, clock);  // its one line was all that was wanted
  return std::string(split(text, '\n').front());
}

// The first directory of `search` that has it counts; one that does not answer, since its server is dead, has none.
std::vector<Launcher> launchers_in(const std::string& search, Clock& clock) {
  static constexpr std::array names{"mpirun", "mpiexec", "srun"};
  std::map<std::string, std::string> paths;
  for (const std::string_view directory : split(search, ':')) {
    const auto here = [&] {
      std::string found;
      for (const char* name : names)
        if (::access(join(directory, name).c_str(), X_OK) == 0) found += std::string(name) + '\n';
      return found;
    };
    const std::string found = directory.empty() ? "" : ask(here, answers_within, clock).value_or("");
    for (const std::string_view name : split(found, '\n'))
      if (!name.empty()) paths.try_emplace(std::string(name), join(directory, name));
  }
  std::vector<Launcher> launchers;
  for (const char* name : names) {
    const auto path = paths.find(name);
    if (path == paths.end()) continue;
    const std::string version = version_line(path->second, clock);
    launchers.push_back({name, path->second, version, family_of(version)});
  }
  return launchers;
}

}  // namespace

std::optional<Account> account_of(uid_t user, Clock& clock) {
  const auto words = ask(
      [user]() -> std::string {
        const struct passwd* entry = ::getpwuid(user);
        return entry == nullptr ? "" : std::string(entry->pw_name) + '\0' + entry->pw_dir;
      },
      answers_within, clock);
  const auto parts = split(words ? std::string_view(*words) : std::string_view(), '\0');
  if (parts.size() != 2) return std::nullopt;
  return Account{std::string(parts[0]), std::string(parts[1])};
}

std::string family_of(const std::string& version) {
  struct Sign {
    const char* text;
    const char* family;
  };
  static constexpr std::array<Sign, 8> kSigns{{{"Open MPI", "Open MPI"},
                                               {"OpenRTE", "Open MPI"},
                                               {"Open RTE", "Open MPI"},
                                               {"Intel(R) MPI", "Intel MPI"},
                                               {"HYDRA", "MPICH"},
                                               {"MPICH", "MPICH"},
                                               {"slurm", "Slurm"},
                                               {"prterun", "Open MPI"}}};
  for (const Sign& sign : kSigns)
    if (version.find(sign.text) != std::string::npos) return sign.family;
  return {};
}

Host observe_host(const std::string& root, const std::string& search, uid_t user, Clock& clock) {
  Host host;
  host.pmem = names_below(root + "/sys/block", "pmem");
  host.huge_tmpfs = chosen_word(first_line(root + "/sys/kernel/mm/transparent_hugepage/shmem_enabled"));
  host.huge_anonymous = chosen_word(first_line(root + "/sys/kernel/mm/transparent_hugepage/enabled"));
  host.inotify_watches = number_in(root + "/proc/sys/fs/inotify/max_user_watches");
  host.inotify_queue = number_in(root + "/proc/sys/fs/inotify/max_queued_events");
  struct rlimit files {};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    host.open_files = files.rlim_cur;
    host.open_files_most = files.rlim_max;
  }
  host.empties_at_logout = logind_empties_shm(root, user, clock);
  host.launchers = launchers_in(search, clock);
  return host;
}

}  // namespace forebay::cli
