#include "cli/runs.h"

#include "settings/settings.h"

namespace forebay::cli {

Result<FoundRuns> find_runs(const std::string& case_path, const std::vector<std::string>& pools) {
  auto settings = settings::load();
  if (!settings) return forward(settings);
  if (!pools.empty()) settings->pool.paths = pools;
  const auto machine = place::observe();
  if (!machine) return forward(machine);
  std::vector<std::string> paths;
  const auto chosen = place::choose_pools(*machine, settings->pool);
  if (chosen) {
    for (const place::Pool& pool : *chosen) paths.push_back(pool.path);
  } else if (!pools.empty()) {
    return forward(chosen);
  }
  // Every node-local mount may hold what an earlier run with other settings left.
  for (const place::Mount& mount : machine->mounts)
    if (mount.node_local && mount.writable) paths.push_back(mount.path);
  FoundRuns found;
  std::string wanted;
  if (!case_path.empty()) {
    const auto real = real_path(case_path);
    if (!real) return error(Code::bad_input, "no such case:", case_path);
    wanted = *real;
  }
  for (launch::PoolRun& run : launch::find_pool_runs(paths, found.damaged))
    if (wanted.empty() || run.plan.case_path == wanted) found.runs.push_back(std::move(run));
  found.pools = std::move(paths);
  found.case_path = std::move(wanted);
  return found;
}

}  // namespace forebay::cli
