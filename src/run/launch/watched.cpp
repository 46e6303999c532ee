#include "run/launch/watched.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <vector>

#include "run/openfoam/openfoam.h"

namespace forebay::launch {
namespace {

// The path as a pattern for shells.
std::string literal(std::string_view path) {
  std::string pattern;
  for (const char c : path) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace

bool is_copied(const Plan& plan, const std::string& path) {
  return plan.copy_inputs || tree::matches_any(plan.settings.stage.copy, path);
}

bool runs_programs(const std::string& directory) {
  struct statvfs status {};
  return ::statvfs(directory.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) == 0;
}

control::Watched watched_by(const PoolRun& run) {
  const settings::Settings& settings = run.plan.settings;
  control::Watched watched{run.plan.case_path, run.lower(), run.plan.run, {"", "system", "constant"}};
  for (const std::string& directory : settings.stage.watch) watched.directories.push_back(directory);
  watched.left_out = settings.stage.direct;
  for (const std::string& name : control_names()) watched.left_out.push_back(name);
  for (const std::string& directory : settings.drain.checkpoints) watched.left_out.push_back(literal(directory));
  watched.copied = run.plan.copy_inputs ? std::vector<std::string>{"*"} : settings.stage.copy;
  watched.copies_programs = runs_programs(run.home());
  return watched;
}

Status check_watched_directories(const Plan& plan) {
  for (const std::string& directory : plan.settings.stage.watch) {
    if (directory.empty() || directory == ".")
      return error(Code::bad_input, "the case itself is always watched, by its own names:", plan.case_path,
                   "name a directory in it with --watch");
    for (const std::string_view name : split(directory, '/'))
      if (openfoam::is_time_name(name) || openfoam::processor_of(name) || openfoam::group_of(name))
        return error(Code::bad_input, "times and directories of ranks are not watched:", directory,
                     "--watch takes a directory with settings");
  }
  return {};
}

}  // namespace forebay::launch
