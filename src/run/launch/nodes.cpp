#include "run/launch/nodes.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/present_path.h"
#include "run/launch/pool_run.h"
#include "run/launch/protocol.h"
#include "run/launch/run.h"

namespace forebay::launch {
namespace {

constexpr int nodes_read_at_once = 8;
constexpr char separator = '\0';

std::string link_of(int descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor);
}

}  // namespace

Nodes::Nodes(const Plan& plan, std::string pool, Clock& clock) : plan_(plan), pool_(std::move(pool)), clock_(clock) {
  if (auto directory = open_file(plan.case_path, O_PATH | O_DIRECTORY)) case_ = std::move(*directory);
}

std::string Nodes::case_there() const {
  const std::string by_identity = link_of(case_.get());
  return case_ && has_control_directory(by_identity) ? by_identity : plan_.case_path;
}

// A place may be full, or take nothing: what a node has told elsewhere since is newer than what stands there.
void Nodes::take(NodeReport report, const std::string& told, Place& place) {
  const std::string name = report.node;
  if (std::exchange(place[name], told) == told) return;
  const auto newest = reports_.find(name);
  if (newest != reports_.end() && newest->second.agent_pid == report.agent_pid && newest->second.beat > report.beat)
    return;
  changed_[name] = clock_.now();
  reports_[name] = std::move(report);
}

// In the directory of this user that has the run.
void Nodes::take_own() {
  if (pool_.empty()) return;
  for (const std::string& user : user_directories_in(pool_)) {
    const auto told = read_file(fmt::format("{}/{}/s0/{}", user, plan_.run, status_name));
    if (!told) continue;
    auto own = node_report_from_json(*told);
    if (own && own->run == plan_.run) take(std::move(*own), *told, in_pool_);
  }
}

void Nodes::take_answer(const std::string& answer) {
  const auto parts = split(answer, separator);
  has_mark_ = parts.front() == "1";
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string told(parts[i]);
    if (auto report = node_report_from_json(told)) take(std::move(*report), told, on_case_);
  }
}

// The case comes last: where both tell something new it is the case that a successor of a killed agent has told.
void Nodes::read() {
  take_own();
  if (!question_) {
    auto asked = Question::ask(
        [this] {
          const std::string there = case_there();
          std::string answer = has_control_directory(there) ? "1" : "0";
          for (const NodeReport& report : read_node_reports(there)) answer += separator + to_json(report);
          return answer;
        },
        case_.get());
    if (asked) question_.emplace(std::move(*asked));
    asked_ = clock_.now();
  }
  if (question_ && question_->is_over_by(asked_ + case_answers_within, clock_)) {
    if (const auto answer = question_->answer()) take_answer(*answer);
    question_.reset();
  }
}

std::chrono::milliseconds Nodes::next_interval(std::chrono::milliseconds last, bool at_terminal) const {
  if (busy()) return showing_interval;
  const auto expecting = (1 + static_cast<int>(reports_.size()) / nodes_read_at_once) * expecting_interval;
  const bool expects = at_terminal || reports_.empty();
  return std::min({2 * last, resting_interval, expects ? expecting : resting_interval});
}

void Nodes::expect_beats() {
  for (auto& [name, changed] : changed_) changed = clock_.now();
}

bool Nodes::done() {
  for (const auto& [name, report] : reports_)
    if (report.phase != Phase::done && !is_silent(name)) return false;
  const bool silent = std::ranges::any_of(reports_, [this](const auto& each) { return is_silent(each.first); });
  // A process that was left alone holds the name until the case answers.
  const bool hangs = std::ranges::any_of(reports_, [](const auto& each) { return each.second.agent_pid == 0; });
  if (plan_.launched || silent || hangs) return true;
  if (!ends_since_) ends_since_ = clock_.now();
  const auto& settings = plan_.settings.drain;
  const auto at_most = reports_.empty() ? settings.silence : settings.patience + processes_end_within;
  const auto name = take_name(meeting_of(plan_).first);
  return !name || *name || clock_.now() - *ends_since_ > at_most;
}

bool Nodes::ask_to_leave() const {
  const auto own = reports_.find(host_name());
  if (own == reports_.end() || own->second.phase == Phase::done || own->second.home.empty()) return false;
  return open_file(join(own->second.home, leave_name), O_WRONLY | O_CREAT | O_NOFOLLOW).has_value();
}

bool Nodes::is_silent(const std::string& name) const {
  const auto changed = changed_.find(name);
  return changed != changed_.end() && clock_.now() - changed->second > plan_.settings.drain.silence;
}

std::vector<NodeReport> Nodes::reports() const {
  std::vector<NodeReport> all;
  for (const auto& [name, report] : reports_) all.push_back(report);
  return all;
}

Result<std::string> Nodes::case_path() const {
  return case_ ? present_path(case_.get(), plan_.case_path) : Result<std::string>(plan_.case_path);
}

std::optional<std::chrono::milliseconds> Nodes::case_is_mute_for() const {
  if (!question_) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - asked_);
}

Status Nodes::end(const RunEnd& end, bool needs_mark) {
  const auto trouble = ask(
      [&] {
        const std::string there = case_there();
        tell_end(there, end, clock_);
        if (needs_mark) return std::string();
        const Status removed = remove_control_directory(there, clock_);
        if (removed) return std::string();
        Error failure = removed.error();
        if (is_below(failure.path, there))
          failure.path = case_path().value_or(plan_.case_path) + failure.path.substr(there.size());
        return failure.text();
      },
      mark_goes_within, clock_, case_.get());
  if (!trouble && needs_mark) return {};
  if (!trouble)
    return error(Code::failed, "the mark of the run cannot be removed, since this does not answer:",
                 case_path().value_or(plan_.case_path));
  if (!trouble->empty()) return error(Code::failed, *trouble);
  return {};
}

bool Nodes::busy() const {
  return std::ranges::any_of(reports_, [this](const auto& each) {
    const auto& [name, report] = each;
    return report.phase != Phase::running && report.phase != Phase::done && !is_silent(name);
  });
}

}  // namespace forebay::launch
