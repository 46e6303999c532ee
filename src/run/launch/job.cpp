#include "run/launch/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/launch/agreement.h"

namespace forebay::launch {
namespace {

std::string time_text(const std::optional<std::string>& time) {
  return time ? "time " + *time : "no time yet";
}

std::string safe_text(const Job& job) {
  if (!job.safe && job.safe_of_script) return time_text(job.safe_of_script) + " of the script's ranks";
  if (job.safe && job.safe_of_script)
    return time_text(job.safe) + ", and " + time_text(job.safe_of_script) + " of the script's ranks";
  return time_text(job.safe);
}

std::string amount_text(const Job& job) {
  return fmt::format("{} in {}", human_bytes(job.only_local.bytes), plural(job.only_local.files, "file"));
}

bool is_nothing(const Job& job) {
  return job.only_local.files == 0;
}

std::string list(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + printable(text);
  return all;
}

}  // namespace

std::optional<double> Job::Draining::seconds_left() const {
  if (carried == 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(all - carried) / bytes_per_second();
}

Job job_of(const std::vector<NodeReport>& nodes, int all_ranks) {
  Job job;
  if (nodes.empty()) return job;
  job.run = nodes.front().run;
  job.safe = safe_of(nodes, all_ranks);
  Job::Draining draining;
  bool drains = false, runs = false;
  std::uint64_t queued = 0;
  for (const NodeReport& node : nodes) {
    const std::string at = nodes.size() > 1 ? node.node + ":" : "";
    const drain::Standing& standing = node.drain.standing;
    if (standing.safe_of_script) job.safe_of_script = standing.safe_of_script;
    if (standing.newest_begun) job.writes = standing.newest_begun;
    if (!is_home(node)) {
      job.only_local.files += standing.only_local.files;
      job.only_local.bytes += standing.only_local.bytes;
      job.only_local.seconds = std::max(job.only_local.seconds, standing.only_local.seconds);
      if (standing.only_local.files > 0) job.where.push_back(at + node.home);
    }
    if (node.waits.for_room) job.held_back.push_back((at.empty() ? "" : at + " ") + to_text(*node.waits.for_room));
    const double fill = node.pool.may_hold == 0
                            ? 0
                            : static_cast<double>(node.pool.held_bytes) / static_cast<double>(node.pool.may_hold);
    if (node.pool.may_hold > 0 && fill >= job.pool_fill.value_or(0)) {
      job.pool_fill = fill;
      job.pool_may_hold = node.pool.may_hold;
    }
    runs = runs || node.phase <= Phase::running;
    drains = drains || node.phase == Phase::draining;
    queued += node.queued_units;
    const std::uint64_t carried =
        node.drain.amounts.shared.bytes - std::min(node.drain.amounts.shared.bytes, node.lasted.carried_before_drain);
    draining.carried += carried;
    draining.all += carried + (is_home(node) ? 0 : standing.only_local.bytes);
    draining.seconds = std::max(draining.seconds, node.lasted.drain_seconds);
  }
  // The fraction is unknown while units wait whose bytes were not counted.
  const bool is_known = queued == 0 || draining.all > draining.carried;
  if (drains && !runs && draining.all > 0 && is_known) job.draining = draining;
  return job;
}

std::string to_text(const Job& job) {
  std::string text = "safe on all nodes: " + safe_text(job) + "; only local: ";
  text += is_nothing(job)
              ? "nothing"
              : fmt::format("{}, for {}, in {}", amount_text(job),
                            human_duration(std::chrono::duration<double>(job.only_local.seconds)), list(job.where));
  text += "; held back by room: " + (job.held_back.empty() ? "nothing" : list(job.held_back));
  if (const std::string drains = draining_text(job); !drains.empty()) text += "; drained: " + drains;
  return text;
}

std::string running_text(const Job& job) {
  std::string text = job.writes ? "writes time " + *job.writes : "no time written yet";
  text += "; safe: " + safe_text(job) + "; ";
  text += is_nothing(job) ? "nothing waits" : amount_text(job) + (job.only_local.files == 1 ? " waits" : " wait");
  if (job.pool_fill) text += fmt::format("; pool {:.0f} % of {}", *job.pool_fill * 100, human_bytes(job.pool_may_hold));
  return text;
}

std::string draining_text(const Job& job) {
  if (!job.draining) return {};
  const Job::Draining& draining = *job.draining;
  std::string text =
      fmt::format("{:.0f} % of {}", 100 * static_cast<double>(draining.carried) / static_cast<double>(draining.all),
                  human_bytes(draining.all));
  if (const auto left = draining.seconds_left())
    text += fmt::format(", {}/s, {} left", human_bytes(static_cast<std::uint64_t>(draining.bytes_per_second())),
                        human_duration(std::chrono::duration<double>(*left)));
  return text;
}

}  // namespace forebay::launch
