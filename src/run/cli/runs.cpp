#include "run/cli/runs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "base/pulse.h"
#include "run/advice/commands.h"
#include "run/launch/resume.h"
#include "run/launch/run.h"
#include "run/settings/settings.h"

namespace forebay::cli {
namespace {

// Absolute, with links resolved as far as the path still exists.
std::string as_plans_have_it(const std::string& path) {
  if (auto real = real_path(path)) return *real;
  std::string_view rest = path;
  while (rest.size() > 1 && rest.ends_with('/')) rest.remove_suffix(1);
  const std::string above(rest.starts_with('/') && parent_of(rest).empty() ? "/" : parent_of(rest));
  if (above == path) return path;
  return join(as_plans_have_it(above.empty() ? "." : above), name_of(rest));
}

bool stages_for(const slots::SlotDirectory& directory, const std::string& case_path) {
  const auto committed = directory.committed();
  return std::ranges::any_of(committed, [&](const slots::SlotDirectory::Committed& each) {
    return each.record && is_below(each.record->path, case_path);
  });
}

}  // namespace

Result<FoundRuns> find_runs(const std::string& case_path, const std::vector<std::string>& pools) {
  auto settings = settings::load();
  if (!settings) return forward(settings);
  if (!pools.empty()) settings->pool.paths = pools;
  const auto machine = node::observe();
  if (!machine) return forward(machine);
  std::vector<std::string> paths;
  const auto chosen = node::choose_pools(*machine, settings->pool);
  if (chosen) {
    for (const node::Pool& pool : *chosen) paths.push_back(pool.path);
  } else if (!pools.empty()) {
    return forward(chosen);
  }
  // Every node-local mount may hold what an earlier run with other settings left. Where pools are named, nothing else
  // is meant: `clean` throws away what it finds.
  if (pools.empty())
    for (const node::Mount& mount : machine->mounts)
      if (mount.node_local && mount.writable) paths.push_back(mount.path);
  FoundRuns found;
  std::string wanted;
  if (!case_path.empty()) {
    const MayHang call(case_path);
    wanted = as_plans_have_it(case_path);
  }
  for (launch::PoolRun& run : launch::find_pool_runs(paths, found.unreadable))
    if (wanted.empty() || run.plan.case_path == wanted) {
      found.runs.push_back(std::move(run));
    } else if (launch::is_case_of(run, wanted)) {
      run.plan.case_path = wanted;  // it was renamed
      found.runs.push_back(std::move(run));
    }
  for (slots::SlotDirectory& each : slots::find(paths))
    if (wanted.empty() || stages_for(each, wanted)) found.staged.push_back(std::move(each));
  // A case may have vanished and have left something here all the same.
  const MayHang call(wanted);
  bool known = wanted.empty() || leads_to_directory(wanted) || !found.runs.empty() || !found.staged.empty();
  for (const std::string& pool : paths)
    for (const std::string& kept : {launch::warm_directory(pool, wanted), launch::ahead_directory(pool, wanted)})
      known = known || name_exists(kept);
  if (!known) return error(Code::bad_input, "no such case:", case_path, "give the case's directory with --case");
  found.pools = std::move(paths);
  found.case_path = std::move(wanted);
  return found;
}

std::optional<std::chrono::seconds> heard_ago(const std::string& case_path, const std::string& node, Clock& clock) {
  return age_on_case(launch::node_report_path(case_path, node), clock);
}

std::optional<std::chrono::seconds> age_on_case(const std::string& path, Clock& clock) {
  const MayHang call(path);
  const auto status = status_of(path);
  if (!status) return std::nullopt;
  // By two clocks: that of the file system may be ahead of this host's.
  const auto age = clock.date() - std::chrono::system_clock::from_time_t(status->st_mtime);
  return std::max(std::chrono::floor<std::chrono::seconds>(age), std::chrono::seconds(0));
}

std::string line_of(const launch::KeptSet& set) {
  const std::string of = set.case_path.empty() ? "" : " of " + printable(set.case_path);
  return fmt::format("{} ({}){}{}, in {}", plural(set.files, "file"), human_bytes(set.bytes), of,
                     set.ahead ? ", which `forebay stage` has copied so far" : "", printable(set.directory));
}

std::optional<std::string> home_elsewhere(const launch::Plan& plan, const std::string& case_path) {
  const auto own = launch::pools_here(plan);
  for (const auto& pools : {std::vector<std::string>(), own.value_or(std::vector<std::string>())})
    if (const auto found = find_runs(case_path, pools))
      if (auto home = home_of(plan.run, *found)) return home;
  return std::nullopt;
}

namespace {
Error loss_of(const launch::NodeReport& report, const std::string& case_path) {
  const std::string safe = fmt::format("safe on the case: {}, {}",
                                       report.drain.newest_safe ? "time " + *report.drain.newest_safe : "no time",
                                       plural(report.drain.amounts.shared.files, "file"));
  const std::string throws_away = advice::throw_away(case_path) + " removes the mark";
  const std::string& mount = report.pool.mount;
  if (!mount.empty() && node::mount_point_of(report.home) != mount)
    return {Code::undrained,
            fmt::format("run {} has data that only this node holds, in a pool on a file system that is not mounted "
                        "here now: {}, below {}; {}",
                        report.run, printable(report.home), printable(mount), safe),
            "", 0,
            fmt::format("mount it again, and {} brings home what it holds; where it is gone for good {}",
                        advice::resume(case_path), throws_away)};
  return {Code::lost,
          fmt::format("run {} had data that only this node held, and its pool is gone (unless it is only not mounted): "
                      "{}; {}; when you have looked, {}",
                      report.run, printable(report.home), safe, throws_away),
          "", 0, ""};
}
}  // namespace

std::optional<Error> lost_here(const launch::Plan& plan, const FoundRuns& found) {
  if (home_of(plan.run, found)) return std::nullopt;
  for (launch::NodeReport& report : launch::read_node_reports(found.case_path)) {
    if (report.node != launch::host_name() || report.run != plan.run || launch::is_home(report)) continue;
    if (name_exists(report.home) || home_elsewhere(plan, found.case_path)) return std::nullopt;
    return loss_of(report, found.case_path);
  }
  return std::nullopt;
}

std::optional<std::string> home_of(const std::string& run, const FoundRuns& found) {
  for (const launch::PoolRun& each : found.runs)
    if (each.plan.run == run) return each.home();
  for (const launch::UnreadableRun& each : found.unreadable)
    if (name_of(parent_of(each.home)) == run) return each.home;
  return std::nullopt;
}

}  // namespace forebay::cli
