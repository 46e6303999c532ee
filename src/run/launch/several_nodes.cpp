#include "run/launch/several_nodes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "run/tree/tree.h"

namespace forebay::launch {
namespace {

// The longest wait between another node's making of its file and its writing of its name into it, and the interval.
constexpr std::chrono::milliseconds name_comes_within{1'000}, name_interval{10};

// The value of the option that `line[at]` is, written as "--name value" or "--name=value".
std::optional<std::string> value_of(const std::vector<std::string>& line, std::size_t at,
                                    std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (line[at] == name && at + 1 < line.size()) return line[at + 1];
    if (name.starts_with("--") && line[at].starts_with(std::string(name) + "="))
      return line[at].substr(name.size() + 1);
  }
  return std::nullopt;
}

std::string host_of(std::string_view word) {
  return std::string(word.substr(0, word.find(':')));
}

// The first words of the lines of a host file.
void hosts_of_file(const std::string& path, std::set<std::string>& hosts) {
  const auto text = read_file(path);
  if (!text) return;
  for (const std::string_view line : split(*text, '\n')) {
    const std::string_view word = line.substr(0, line.find_first_of(" \t#"));
    if (!word.empty()) hosts.insert(host_of(word));
  }
}

std::vector<std::string> named_directories(const Plan& plan) {
  std::vector<std::string> named;
  for (const std::string& each : plan.settings.stage.direct)
    if (each.find_first_of("*?[\\") == std::string::npos) named.push_back(each);
  return named;
}

}  // namespace

std::optional<int> nodes_in(const std::vector<std::string>& launcher) {
  if (launcher.empty()) return std::nullopt;
  const bool slurm = name_of(launcher.front()) == "srun";
  std::set<std::string> hosts;
  for (std::size_t at = 1; at < launcher.size(); ++at) {
    if (slurm) {
      // "-N 2", "-N2", "--nodes=2-4": at least so many.
      auto count = value_of(launcher, at, {"-N", "--nodes"});
      if (!count && launcher[at].size() > 2 && launcher[at].starts_with("-N")) count = launcher[at].substr(2);
      if (count)
        if (const auto number = parse_integer(std::string_view(*count).substr(0, count->find('-'))))
          return static_cast<int>(*number);
      continue;
    }
    if (const auto list = value_of(launcher, at, {"-H", "-host", "--host", "-hosts", "--hosts"}))
      for (const std::string_view host : split(*list, ',')) hosts.insert(host_of(host));
    if (const auto file = value_of(launcher, at, {"-hostfile", "--hostfile", "-machinefile", "--machinefile", "-f"}))
      hosts_of_file(*file, hosts);
  }
  return hosts.empty() ? std::nullopt : std::optional(static_cast<int>(hosts.size()));
}

bool needs_one_node(const Plan& plan) {
  return plan.launched && !plan.decomposed && plan.settings.stage.direct.empty();
}

tl::unexpected<Error> too_many_nodes(const std::string& which, const Plan& plan) {
  std::string flags;
  for (const std::string& directory : plan.written_together) flags += " --direct " + directory;
  return error(
      Code::bad_input,
      "the case is not decomposed, and ranks on several nodes would write into it (" + which + "):", plan.case_path,
      "run it on one node, or name the directories that they write to, so that these stay on the shared file "
      "system:" +
          (flags.empty() ? " --direct DIRECTORY" : flags) + " (stage.direct)");
}

Status claim_case(const Plan& plan, Clock& clock) {
  const std::string path = join(control_directory(plan.case_path), "sole-node"), own = host_name();
  const auto file = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (file) return write_all(file->get(), own, path);
  if (file.error().errno_value != EEXIST) return forward(file);
  // The other node may be about to write its name.
  std::string other;
  for (std::chrono::milliseconds slept{0}; slept < name_comes_within && other.empty(); slept += name_interval) {
    if (const auto text = read_file(path)) other = *text;
    if (other.empty()) clock.sleep(name_interval);
  }
  if (other == own) return {};
  return too_many_nodes(printable(other) + " and " + own, plan);
}

Status check_direct_directories(const Plan& plan) {
  for (const std::string& directory : named_directories(plan)) {
    struct stat status {};
    const std::string path = join(plan.case_path, directory);
    if (::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
      return error(Code::bad_input, "only directories can stay on the shared file system, not a file:", path,
                   "name the directory that it lies in");
  }
  return {};
}

Status make_direct_directories(const Plan& plan) {
  for (const std::string& directory : named_directories(plan)) {
    for (std::size_t end = 0; end != std::string::npos;) {
      end = directory.find('/', end + 1);
      const std::string path = join(plan.case_path, directory.substr(0, end));
      if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) return errno_error("cannot make directory", path);
    }
  }
  return {};
}

bool DirectDirectories::take(const std::string& path) {
  if (plan_.settings.stage.direct.empty() || !tree::matches_any(plan_.settings.stage.direct, path)) return false;
  const auto status = status_of(join(plan_.case_path, path));
  if (!status || !S_ISDIR(status->st_mode)) return false;
  taken_.push_back(path);
  return true;
}

Status DirectDirectories::link(const std::string& tree, const std::string& lower) const {
  for (const std::string& path : taken_) {
    const std::string link = join(tree, path);
    if (::symlink(join(lower, path).c_str(), link.c_str()) != 0 && errno != EEXIST)
      return errno_error("cannot link", link);
  }
  return {};
}

}  // namespace forebay::launch
