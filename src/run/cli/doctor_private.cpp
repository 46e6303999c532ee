#include "run/cli/doctor_private.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace forebay::cli {
namespace {

using nlohmann::ordered_json;

// Places that every Linux has: they say nothing. A "/" at the end stands for all below, too.
constexpr std::array<std::string_view, 17> common_places{"/",
                                                         "/dev/shm",
                                                         "/tmp",
                                                         "/var/tmp",
                                                         "/proc",
                                                         "/proc/",
                                                         "/sys",
                                                         "/sys/",
                                                         "/run",
                                                         "/home",
                                                         "/var",
                                                         "/usr/bin/",
                                                         "/usr/lib/",
                                                         "/boot",
                                                         "/opt",
                                                         "/root",
                                                         "/etc/forebay.toml"};
// The report tells the values of these. Of others that begin with a prefix below it tells only that they are set.
constexpr std::array<std::string_view, 14> open_variables{
    "LANG",         "LC_ALL",          "OMP_NUM_THREADS",     "WM_PROJECT_VERSION",  "WM_PRECISION_OPTION",
    "SLURM_NTASKS", "SLURM_NNODES",    "SLURM_JOB_NUM_NODES", "SLURM_CPUS_ON_NODE",  "SLURM_TASKS_PER_NODE",
    "SLURM_NODEID", "FOREBAY_RUN_VIA", "FOREBAY_DRAIN_WHEN",  "FOREBAY_DRAIN_LAYOUT"};
constexpr std::array<std::string_view, 11> named_variables{"FOREBAY_", "OMPI_",  "PMI", "PMIX_", "I_MPI_", "MPICH_",
                                                           "SLURM_",   "HWLOC_", "LD_", "WM_",   "TMPDIR"};

std::string own_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Where it stands for itself, not within another word.
void replace_word(std::string& text, const std::string& word, std::string_view by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    const bool alone = (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (alone) text.replace(at, word.size(), by);
    at += alone ? by.size() : 1;
  }
}

constexpr std::string_view path_ends = " \t\n\"'`,;:()[]{}<>|=";

// With what stands behind it of a longer path.
void replace_path(std::string& text, const std::string& path) {
  constexpr std::string_view by = "<path>";
  for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at + by.size())) {
    const std::size_t end = text.find_first_of(path_ends, at + path.size());
    text.replace(at, std::min(end, text.size()) - at, by);
  }
}

bool is_common_place(std::string_view path) {
  return std::ranges::any_of(common_places, [&](std::string_view place) {
    return path == place || (place.size() > 1 && place.ends_with('/') && path.starts_with(place));
  });
}

// Absolute paths, to the next blank or mark.
std::string without_paths(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = text[at] == '/' && (at == 0 || path_ends.find(text[at - 1]) != std::string_view::npos);
    if (!begins) {
      out += text[at++];
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(path_ends, at), text.size());
    const std::string path = text.substr(at, end - at);
    out += is_common_place(path) ? path : "<path>";
    at = end;
  }
  return out;
}

void clear_of_private(ordered_json& value, const PrivateWords& words) {
  if (value.is_string()) {
    value = without_private(value.get<std::string>(), words);
  } else if (value.is_structured()) {
    for (ordered_json& each : value) clear_of_private(each, words);
  }
}

std::string name_of_system() {
  const auto content = read_file("/etc/os-release", 1 << 16);
  if (!content) return "unknown";
  for (const std::string_view line : split(*content, '\n'))
    if (line.starts_with("PRETTY_NAME=")) return std::string(line.substr(std::string_view("PRETTY_NAME=").size()));
  return "unknown";
}

ordered_json system_json() {
  struct utsname system {};
  ::uname(&system);
  return {{"kernel", system.release},         {"machine", system.machine}, {"system", name_of_system()},
          {"libc", ::gnu_get_libc_version()}, {"compiler", __VERSION__},   {"privileged", ::geteuid() == 0}};
}

ordered_json variables_json(const std::vector<std::string>& environment) {
  ordered_json out = ordered_json::object();
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    const bool is_open = std::ranges::find(open_variables, name) != open_variables.end();
    if (is_open || std::ranges::any_of(named_variables, [&](std::string_view each) { return name.starts_with(each); }))
      out[name] = is_open ? entry.substr(equals + 1) : "set";
  }
  return out;
}

// Lists of directories and patterns are the user's own names: only how many there are is told.
void count_lists(ordered_json& settings) {
  for (ordered_json& section : settings)
    for (ordered_json& value : section)
      if (value.is_array()) value = plural(value.size(), "name");
}

}  // namespace

PrivateWords private_words(const DoctorReport& report) {
  PrivateWords words;
  for (const char* name : {"USER", "LOGNAME", "SUDO_USER"}) words.names.push_back(own_variable(name));
  words.paths = {own_variable("HOME"), own_variable("PWD"), own_variable("TMPDIR"), real_path(".").value_or("")};
  if (const auto user = account_of(::geteuid(), real_clock())) {
    words.names.push_back(user->name);
    words.paths.push_back(user->home);
  }
  words.names.push_back(report.machine.node);
  words.names.push_back(report.machine.node.substr(0, report.machine.node.find('.')));
  if (report.of_case) words.paths.push_back(report.of_case->path);
  const auto& pools = report.settings.pool.paths;
  words.paths.insert(words.paths.end(), pools.begin(), pools.end());
  for (const node::Mount& mount : report.machine.mounts) words.paths.push_back(mount.path);
  std::erase_if(words.names, [](const std::string& each) { return each.empty(); });
  std::erase_if(words.paths, [](const std::string& each) { return each.empty() || is_common_place(each); });
  // A path that lies in another one comes first.
  std::ranges::sort(words.paths, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return words;
}

std::string without_private(std::string text, const PrivateWords& words) {
  for (const std::string& path : words.paths) replace_path(text, path);
  text = without_paths(text);
  for (const std::string& name : words.names) replace_word(text, name, "<name>");
  return text;
}

std::string anonymous_json(const DoctorReport& report, const PrivateWords& words,
                           const std::vector<std::string>& environment) {
  ordered_json out = ordered_json::parse(json_of(report));
  out.erase("node");
  for (ordered_json& mount : out["mounts"]) mount.erase("source");
  if (out["case"].is_object()) out["case"].erase("path");
  count_lists(out["settings"]);
  out["system"] = system_json();
  out["environment"] = variables_json(environment);
  clear_of_private(out, words);
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Status write_new_file(const std::string& path, const std::string& text) {
  auto file = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!file) {
    file.error().code = Code::bad_input;
    if (file.error().errno_value == EEXIST) file.error().advice = "nothing is replaced: give another name";
    return forward(file);
  }
  return write_all(file->get(), text, path);
}

}  // namespace forebay::cli
