#include "run/launch/plan.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>

namespace forebay::launch {
// Members whose JSON is their value. The others are put in and taken out by hand.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plan, run, way, redirect, launched, decomposed, ranks, openfoam, hold_times,
                                   start_time, start_groups, written_together, copy_inputs, submit_host, submit_pid)
namespace {

using nlohmann::json;

constexpr int plan_version = 1;

// Paths may be any bytes, JSON only UTF-8.
std::string path_at(const json& from, const char* key) {
  return unescape(from.at(key).get<std::string>()).value_or(std::string());
}

}  // namespace

bool is_alive(const Plan& plan) {
  if (plan.submit_host != host_name() || plan.submit_pid <= 0) return false;
  // Its number may belong to another process by now.
  char program[PATH_MAX];
  const ssize_t size =
      ::readlink(("/proc/" + std::to_string(plan.submit_pid) + "/exe").c_str(), program, sizeof program);
  return size > 0 && name_of({program, static_cast<std::size_t>(size)}).starts_with("forebay");
}

std::string to_json(const Plan& plan) {
  json out = plan;
  out["version"] = plan_version;
  out["meeting"] = plan.meeting;
  out["case"] = escape(plan.case_path);
  out["typed"] = escape(plan.typed_path);
  out["settings"] = json::parse(settings::to_json(plan.settings));
  out["library"] = escape(plan.library);
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
    return plan;
  } catch (const json::exception& failure) {
    return error(Code::bad_input, fmt::format("not a plan of a run ({})", failure.what()));
  }
}

std::string control_directory(const std::string& case_path) {
  return join(case_path, control_name);
}

Status make_control_directory(const Plan& plan) {
  const std::string directory = control_directory(plan.case_path);
  if (::mkdir(directory.c_str(), 0700) != 0) {
    if (errno != EEXIST)
      return errno_error("cannot write to the case: cannot make", directory,
                         "results could not be brought home; check the permissions and the space of the file system");
    const auto other = read_plan(plan.case_path);
    if (other && is_alive(*other))
      return error(Code::busy, fmt::format("run {} (process {}) works on this case:", other->run, other->submit_pid),
                   plan.case_path, "wait for it, or stop it");
    if (!other)
      return error(Code::busy,
                   "a run begins on this case, or left a mark that cannot be read (" + other.error().text() + "):",
                   plan.case_path, "try again; if it stays, look at " + directory + " and remove it");
    // Of a process on another host nothing tells here whether it lives.
    const bool here = other->submit_host == host_name();
    return error(Code::busy,
                 here ? fmt::format("run {} left this case unfinished:", other->run)
                      : fmt::format("run {}, started on {}, works on this case or left it unfinished:", other->run,
                                    other->submit_host),
                 plan.case_path,
                 std::string("`forebay status --case` shows ") + (here ? "what it left" : "when its nodes told of it") +
                     "; where it is dead, `forebay drain --resume --case` on its nodes brings home what it left, "
                     "`forebay clean --case` throws it away");
  }
  return replace_file(join(directory, "plan.json"), to_json(plan));
}

Result<Plan> read_plan(const std::string& case_path) {
  const std::string directory = control_directory(case_path);
  // Others who may write to the case must not give orders: a plan names a library to load.
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0) return errno_error("cannot open", directory);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 0022) != 0)
    return error(Code::bad_input, "not a private directory of this user:", directory,
                 "forebay did not make it so; look at it, then remove it");
  auto text = read_file(join(directory, "plan.json"));
  if (!text) return forward(text);
  return plan_from_json(*text);
}

std::string case_above(const std::string& directory) {
  for (std::string at = directory; !at.empty(); at = parent_of(at)) {
    if (name_exists(join(control_directory(at), "plan.json"))) return at;
    if (at == "/") break;
  }
  return {};
}

Status remove_control_directory(const std::string& case_path) {
  return remove_tree(control_directory(case_path));
}

bool is_being_removed(const std::string& case_path, const std::string& run, Clock& clock) {
  constexpr int attempts = 20;
  constexpr std::chrono::milliseconds interval{100};
  for (int i = 0; i < attempts; ++i) {
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
