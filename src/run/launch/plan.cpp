#include "run/launch/plan.h"
#include "base/pulse.h"
#include "base/shell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "run/advice/commands.h"
#include "run/launch/report.h"
#include "run/launch/request.h"
#include "run/publish/publish.h"

namespace forebay::launch {
// Members whose JSON is their value. Code below puts in and takes out the others.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plan, run, way, redirect, launched, decomposed, ranks, openfoam, hold_times,
                                   start_time, written_together, copy_inputs, logs, submit_host, submit_pid)
namespace {

using nlohmann::json;

constexpr int plan_version = 1;

// Paths may be any bytes, JSON only UTF-8.
std::string path_at(const json& from, const char* key) {
  return unescape(from.at(key).get<std::string>()).value_or(std::string());
}

}  // namespace

bool is_forebay(int process) {
  if (process <= 0) return false;
  char program[PATH_MAX];
  const ssize_t size = ::readlink(("/proc/" + std::to_string(process) + "/exe").c_str(), program, sizeof program);
  return size > 0 && name_of({program, static_cast<std::size_t>(size)}).starts_with("forebay");
}

bool is_alive(const Plan& plan) {
  return plan.submit_host == host_name() && is_forebay(plan.submit_pid);
}

std::string to_json(const Plan& plan) {
  json out = plan;
  out["version"] = plan_version;
  out["meeting"] = plan.meeting;
  out["case"] = escape(plan.case_path);
  out["typed"] = escape(plan.typed_path);
  out["settings"] = json::parse(settings::to_json(plan.settings));
  out["library"] = escape(plan.library);
  out["start_groups"] = plan.groups.start;
  out["written_groups"] = plan.groups.written;
  return out.dump(1);
}

Result<Plan> plan_from_json(const std::string& text) {
  try {
    const json from = json::parse(text);
    if (from.at("version") != plan_version)
      return error(Code::bad_input, "the plan was written by another version of forebay");
    Plan plan = from;
    plan.meeting = from.value("meeting", std::string());
    plan.case_path = path_at(from, "case");
    plan.typed_path = path_at(from, "typed");
    auto settings = settings::from_json(from.at("settings").dump());
    if (!settings) return forward(settings);
    plan.settings = *settings;
    plan.library = path_at(from, "library");
    plan.groups.start = from.at("start_groups");
    plan.groups.written = from.value("written_groups", contract::WrittenGroups());
    return plan;
  } catch (const json::exception& failure) {
    return error(Code::bad_input, fmt::format("not a plan of a run ({})", failure.what()));
  }
}

namespace {

constexpr std::array possible_names{".forebay", ".forebay-run", ".forebay-run-2", ".forebay-run-3"};
constexpr const char *plan_name = "plan.json", *sole_node_name = "sole-node";

// A directory of another user may hide its plan: it counts as one, too.
bool is_control_directory(const std::string& path) {
  struct stat status {};
  return ::lstat(join(path, plan_name).c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

std::optional<std::string> find_control_directory(const std::string& case_path) {
  for (const char* name : possible_names)
    if (std::string path = join(case_path, name); is_control_directory(path)) return path;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> control_names() {
  return {possible_names.begin(), possible_names.end()};
}

std::string control_directory(const std::string& case_path) {
  if (auto found = find_control_directory(case_path)) return *found;
  for (const char* name : possible_names)
    if (std::string path = join(case_path, name); !name_exists(path)) return path;
  return join(case_path, possible_names.back());
}

bool has_control_directory(const std::string& case_path) {
  return find_control_directory(case_path).has_value();
}

// The control directory appears with its plan, in one step.
Status make_control_directory(const Plan& plan) {
  const std::string temporary = join(plan.case_path, drain::temporary_name("", plan.run));
  if (::mkdir(temporary.c_str(), 0700) != 0)
    return errno_error("cannot write to the case: cannot make", temporary,
                       "results could not be brought home; check the permissions and the space of the file system");
  const auto request = open_file(join(temporary, request_name), O_WRONLY | O_CREAT | O_EXCL);  // with nothing in it
  if (auto written = request ? replace_file(join(temporary, plan_name), to_json(plan)) : Status(forward(request));
      !written) {
    (void)remove_tree(temporary);
    return written;
  }
  const std::string directory = control_directory(plan.case_path);
  // No directory with anything in it is replaced by a rename.
  const bool is_there = has_control_directory(plan.case_path);
  if (is_there || ::rename(temporary.c_str(), directory.c_str()) != 0) {
    const int failure = errno, reason = is_there || has_control_directory(plan.case_path) ? EEXIST : failure;
    (void)remove_tree(temporary);
    errno = reason;
    if (errno != EEXIST && errno != ENOTEMPTY)
      return errno_error("cannot write to the case: cannot make", directory,
                         "results could not be brought home; check the permissions and the space of the file system");
    const auto other = read_plan(plan.case_path);
    if (other && is_alive(*other))
      return error(Code::busy, fmt::format("run {} (process {}) works on this case:", other->run, other->submit_pid),
                   plan.case_path,
                   fmt::format("wait for it, or stop it; {} shows how far it is", advice::status(plan.case_path)));
    if (!other)
      return error(Code::busy,
                   "a run begins on this case, or left a mark that cannot be read (" + other.error().text() + "):",
                   plan.case_path, "try again; if it stays, look at " + shell_word(directory) + " and remove it");
    // Nothing tells here whether a process on another host lives.
    const bool here = other->submit_host == host_name();
    return error(
        Code::busy,
        here ? fmt::format("run {} left this case unfinished:", other->run)
             : fmt::format("run {}, started on {}, works on this case or left it unfinished:", other->run,
                           other->submit_host),
        plan.case_path,
        fmt::format("{} shows {}; where it is dead, {} on its nodes brings home what it left, {} throws it away",
                    advice::status(plan.case_path), here ? "what it left" : "when its nodes told of it",
                    advice::resume(plan.case_path), advice::throw_away(plan.case_path)));
  }
  return {};
}

Result<Plan> read_plan(const std::string& case_path) {
  const MayHang call(case_path);
  const std::string directory = control_directory(case_path);
  // Other users who may write to the case must not give orders: a plan names a library to load.
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0) return errno_error("cannot open", directory);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 0022) != 0)
    return error(Code::bad_input, "not a private directory of this user:", directory,
                 "forebay did not make it so; look at it, then remove it");
  auto text = read_file(join(directory, plan_name));
  if (!text) return forward(text);
  return plan_from_json(*text);
}

std::string case_above(const std::string& directory) {
  for (std::string at = directory; !at.empty(); at = parent_of(at)) {
    if (has_control_directory(at)) return at;
    if (at == "/") break;
  }
  return {};
}

// Where it holds names of the program, it is the program's from now on. A server that has just come back may call an
// empty directory not empty, or refuse to remove it, for some seconds.
Status remove_where_empty(const std::string& directory, Clock& clock) {
  constexpr std::chrono::milliseconds empty_goes_within{3'000}, interval{100};
  for (std::chrono::milliseconds slept{0};; slept += interval) {
    if (::rmdir(directory.c_str()) == 0 || errno == ENOENT) return {};
    const auto failure = errno_error("cannot remove", directory, "nothing of the run is in it: remove it by hand");
    const int reason = failure.value().errno_value;
    const bool is_full = reason == ENOTEMPTY || reason == EEXIST;
    if (!is_full && reason != EINVAL) return failure;
    const auto left = list_directory(directory);
    if (is_full && left && !left->empty()) break;
    if (slept >= empty_goes_within || !left || !left->empty()) return failure;
    clock.sleep(interval);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  (void)::chmod(directory.c_str(), 0777 & ~mask);
  return {};
}

Status remove_control_directory(const std::string& case_path, Clock& clock) {
  const MayHang call(case_path);
  const auto directory = find_control_directory(case_path);
  if (!directory) return {};
  std::vector<std::string> own = node_report_paths(*directory);
  const auto entries = list_directory(*directory);
  for (const DirectoryEntry& entry : entries ? *entries : std::vector<DirectoryEntry>())
    if (entry.name == sole_node_name || entry.name == request_name || entry.name == end_name ||
        (entry.name.starts_with("node-") && entry.name.ends_with(".new")))
      own.push_back(join(*directory, entry.name));
  own.push_back(join(*directory, plan_name));  // last: without it nothing tells what the others are
  for (const std::string& path : own)
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return errno_error("cannot remove", path);
  return remove_where_empty(*directory, clock);
}

bool is_being_removed(const std::string& case_path, const std::string& run, Clock& clock) {
  constexpr std::chrono::milliseconds mark_follows_within{2'000}, interval{100};
  for (std::chrono::milliseconds slept{0}; slept < mark_follows_within; slept += interval) {
    const auto plan = read_plan(case_path);
    if (plan ? plan->run != run : plan.error().errno_value == ENOENT) return true;
    clock.sleep(interval);
  }
  return false;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  ::gethostname(name, HOST_NAME_MAX);
  return name;
}

std::string new_run_name(Clock& clock) {
  const std::time_t now = std::chrono::system_clock::to_time_t(clock.date());
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
  return fmt::format("{}-{:04x}", text, std::random_device()() & 0xFFFFu);
}

std::string new_meeting() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

}  // namespace forebay::launch
