#include "run/launch/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "run/advice/statuses.h"
#include "run/launch/agreement.h"
#include "run/layouts/layouts.h"

// Members whose JSON is their value. Code below puts in and takes out the others.
namespace forebay::drain {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Amount, files, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Carried, files, again, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimelineEntry, time, begun, complete, safe)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Amounts, unseen_times, shared, undrained, never_shared, read_back)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DrainReport, timeline, groups)
}  // namespace forebay::drain

namespace forebay::core {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StateId, has_state, number, time)
}  // namespace forebay::core

namespace forebay::launch {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NodeReport::Staged, staged_files, staged_bytes, copied_bytes, copy_bytes_in_all)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NodeReport::Lasted, stage_seconds, program_seconds, drain_seconds,
                                   paused_milliseconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NodeReport::Used, agent_peak_bytes, agent_cpu_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NodeReport, node, run, beat, agent_pid, queued_units, ranks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Standstill, held_bytes, budget, limit, let_go, units)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StabilityReport, program, ranks, program_ended, written_bytes, shortest, median, p90,
                                   p99, longest, mean)
namespace {

using nlohmann::json;

// A report that grows with the steps would be written every second, and read by every node.
constexpr std::size_t interim_timeline = 50;

constexpr std::array phase_names{"staging", "running", "draining", "removing", "done"};

json json_of(const drain::Standing& standing) {
  json out{{"growing", json::object()},
           {"growing_more", standing.growing.more},
           {"newest_begun", standing.newest_begun.value_or("")},
           {"only_local",
            {{"files", standing.only_local.files},
             {"bytes", standing.only_local.bytes},
             {"seconds", standing.only_local.seconds}}},
           {"safe_of_script", standing.safe_of_script.value_or("")},
           {"ranks_of_script", standing.ranks_of_script}};
  for (const auto& [path, amount] : standing.growing.files)
    out["growing"][escape(path)] = {{"local_bytes", amount.local}, {"case_bytes", amount.on_case}};
  return out;
}

json json_of(const drain::DrainReport& report) {
  json out = report;
  out.update(json(report.amounts));
  out["local_files"] = report.amounts.written.files;
  out["local_bytes"] = report.amounts.written.bytes;
  out["local_is_more"] = report.amounts.written_is_more;
  out["trouble"] = report.trouble ? static_cast<int>(*report.trouble) : 0;
  out["messages"] = json::array();
  for (const std::string& message : report.messages) out["messages"].push_back(printable(message));
  out["notices"] = json::array();
  for (const std::string& notice : report.notices) out["notices"].push_back(printable(notice));
  out.update(json_of(report.standing));
  out["lag_seconds"] = report.amounts.lag_seconds ? json(*report.amounts.lag_seconds) : json();
  out["safe_times"] = report.safe_times;
  out["newest_complete"] = report.newest_complete.value_or("");
  out["newest_safe"] = report.newest_safe.value_or("");
  return out;
}

std::optional<std::string> not_empty(const json& from, const char* key) {
  const std::string text = from.at(key);
  return text.empty() ? std::nullopt : std::optional(text);
}

drain::Standing standing_from(const json& from) {
  drain::Standing standing;
  const auto time = [&](const char* key) {
    const std::string text = from.value(key, std::string());
    return text.empty() ? std::nullopt : std::optional(text);
  };
  standing.newest_begun = time("newest_begun");
  standing.safe_of_script = time("safe_of_script");
  standing.ranks_of_script = from.value("ranks_of_script", std::uint64_t{0});
  if (const auto local = from.find("only_local"); local != from.end())
    standing.only_local = {local->at("files"), local->at("bytes"), local->at("seconds")};
  const json growing = from.value("growing", json::object());
  for (const auto& [path, amount] : growing.items())
    if (const auto name = unescape(path))
      standing.growing.files[*name] = {amount.at("local_bytes").get<std::uint64_t>(),
                                       amount.at("case_bytes").get<std::uint64_t>()};
  standing.growing.more = from.value("growing_more", std::uint64_t{0});
  return standing;
}

drain::DrainReport drain_report(const json& from) {
  drain::DrainReport report = from;
  if (const int code = from.at("trouble"); code != 0) report.trouble = static_cast<Code>(code);
  report.messages = from.at("messages").get<std::vector<std::string>>();
  report.notices = from.value("notices", std::vector<std::string>());
  report.amounts = from;
  report.amounts.written = {from.at("local_files"), from.at("local_bytes")};
  report.amounts.written_is_more = from.at("local_is_more");
  report.standing = standing_from(from);
  if (const auto lag = from.find("lag_seconds"); lag != from.end() && !lag->is_null())
    report.amounts.lag_seconds = *lag;
  report.safe_times = from.value("safe_times", std::uint64_t{0});
  report.newest_complete = not_empty(from, "newest_complete");
  report.newest_safe = not_empty(from, "newest_safe");
  return report;
}

// As escape() writes them: JSON holds no bytes that are not UTF-8.
json json_of_paths(const std::set<std::string>& paths) {
  json out = json::array();
  for (const std::string& path : paths) out.push_back(escape(path));
  return out;
}

constexpr std::pair<const char*, double Span::*> measures[] = {
    {"begin", &Span::begin},       {"end", &Span::end},        {"held", &Span::held},
    {"busy", &Span::busy},         {"fill", &Span::fill},      {"times_seconds", &Span::steps_seconds},
    {"shortest", &Span::shortest}, {"longest", &Span::longest}};
constexpr std::pair<const char*, std::uint64_t Span::*> counts[] = {{"written_bytes", &Span::written_bytes},
                                                                    {"carried_bytes", &Span::carried_bytes},
                                                                    {"times", &Span::steps},
                                                                    {"times_together", &Span::steps_together}};

// Each member as a list: half as long as a list of objects.
json json_of(const std::vector<Span>& spans) {
  json out = json::object();
  for (const auto& [name, member] : measures) {
    json& column = out[name] = json::array();
    for (const Span& span : spans) column.push_back(std::round(span.*member * 1e4) / 1e4);
  }
  for (const auto& [name, member] : counts) {
    json& column = out[name] = json::array();
    for (const Span& span : spans) column.push_back(span.*member);
  }
  return out;
}

std::vector<Span> spans_from(const json& from) {
  std::vector<Span> spans(from.at("end").size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    for (const auto& [name, member] : measures) spans[i].*member = from.at(name).at(i);
    for (const auto& [name, member] : counts) spans[i].*member = from.at(name).at(i);
  }
  return spans;
}

json json_of(const StabilityReport& report) {
  json out = report;
  out["times"] = report.steps;
  out["times_together"] = report.steps_together;
  out["written_at_least"] = report.written_is_more;
  std::vector<Span> spans;
  json times = json::array();
  for (const StabilityReport::Step& step : report.worst) {
    spans.push_back(step.span);
    times.push_back(step.time);
  }
  out["worst"] = json_of(spans);
  out["worst"]["time"] = times;
  out["course"] = json_of(report.course);
  return out;
}

StabilityReport stability_from(const json& from) {
  StabilityReport report = from;
  report.steps = from.at("times");
  report.steps_together = from.at("times_together");
  report.written_is_more = from.at("written_at_least");
  const std::vector<Span> worst = spans_from(from.at("worst"));
  for (std::size_t i = 0; i < worst.size(); ++i) report.worst.push_back({from.at("worst").at("time").at(i), worst[i]});
  report.course = spans_from(from.at("course"));
  return report;
}

json json_of(const Standstill& standstill) {
  json out = standstill;
  out["pool"] = escape(standstill.pool);
  out["failure"] = printable(standstill.failure);
  return out;
}

Standstill standstill_from(const json& from) {
  Standstill standstill = from;
  standstill.pool = unescape(from.at("pool").get<std::string>()).value_or("");
  standstill.failure = from.at("failure");
  return standstill;
}

json json_of(const NodeReport& report) {
  json out = report;
  for (const json& more : {json(report.staged), json(report.lasted), json(report.used)}) out.update(more);
  out["home"] = escape(report.home);
  out["phase"] = phase_name(report.phase);
  out["pool_of"] = report.pool.made_by;
  out["pool_mount"] = escape(report.pool.mount);
  out["sockets"] = json::object();
  for (const auto& [rank, socket] : report.sockets) out["sockets"][std::to_string(rank)] = socket;
  out["pools_in_memory"] = json_of_paths(report.pool.in_memory);
  out["pool_held_bytes"] = report.pool.held_bytes;
  out["pool_may_hold"] = report.pool.may_hold;
  out["carried_before_drain"] = report.lasted.carried_before_drain;
  out["complete_times"] = report.times.complete;
  out["safe_times"] = report.times.safe;
  out["carried"] = report.times.carried;
  out["writes_times"] = report.times.are_written;
  out["writer"] = report.stability.program;
  out["written_times"] = report.stability.steps;
  out["written_time_seconds"] = report.stability.mean;
  out["waits_for"] = report.waits.for_writers;
  if (!report.answer.request.empty())
    out["answer"] = {{"request", report.answer.request}, {"refusal", printable(report.answer.refusal)}};
  if (!report.waits.for_case.empty()) out["waits_for_case"] = printable(report.waits.for_case);
  out["drain"] = json_of(report.drain);
  if (report.waits.for_room) out["standstill"] = json_of(*report.waits.for_room);
  if (!report.stability.course.empty()) out["stability"] = json_of(report.stability);
  return out;
}

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json();
}

}  // namespace

bool is_home(const NodeReport& report) {
  return (report.phase == Phase::removing || report.phase == Phase::done) && !drain::needs_pool(report.drain.trouble);
}

std::string phase_name(Phase phase) {
  return phase_names[static_cast<std::size_t>(phase)];
}

void take_state(NodeReport& report, const drain::Drain& drain) {
  report.waits.for_case = drain.failure();
  report.drain = drain.report(interim_timeline);
  report.times.are_written = drain.writes_times();
  report.times.complete = drain.complete_times();
  report.times.safe = drain.safe_times();
  report.times.carried = drain.carried();
  report.queued_units = drain.progress().units_left();
}

void add_usage(NodeReport& report) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  report.used.agent_peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  report.used.agent_cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string to_json(const NodeReport& report) {
  return json_of(report).dump();
}

void leave_outcome(const Descriptor& lock, const NodeReport& report) {
  const std::string text = to_json(report);
  (void)!::pwrite(lock.get(), text.data(), text.size(), 0);  // cut, it is understood by nobody
}

std::optional<NodeReport> outcome_in(const Descriptor& lock) {
  struct stat status {};
  if (::fstat(lock.get(), &status) != 0 || status.st_size == 0) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  if (::pread(lock.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) return std::nullopt;
  auto report = node_report_from_json(text);
  if (!report) return std::nullopt;
  return std::move(*report);
}

Result<NodeReport> node_report_from_json(const std::string& text) {
  try {
    const json from = json::parse(text);
    NodeReport report = from;
    report.staged = from;
    report.lasted = from;
    report.used = from;
    report.home = unescape(from.at("home").get<std::string>()).value_or("");
    const auto phase = std::ranges::find(phase_names, from.at("phase").get<std::string>());
    if (phase == phase_names.end()) return error(Code::failed, "not a report of a node (its phase is unknown)");
    report.phase = static_cast<Phase>(phase - phase_names.begin());
    report.pool.made_by = from.value("pool_of", report.agent_pid);
    report.pool.mount = unescape(from.value("pool_mount", "%")).value_or("");
    for (const auto& [rank, socket] : from.at("sockets").items())
      report.sockets[static_cast<int>(parse_integer(rank).value_or(-1))] = socket;
    for (const std::string path : from.at("pools_in_memory")) report.pool.in_memory.insert(unescape(path).value_or(""));
    report.pool.held_bytes = from.value("pool_held_bytes", std::uint64_t{0});
    report.pool.may_hold = from.value("pool_may_hold", std::uint64_t{0});
    report.lasted.carried_before_drain = from.value("carried_before_drain", std::uint64_t{0});
    report.times.complete = from.at("complete_times");
    report.times.safe = from.at("safe_times");
    report.times.carried = from.at("carried");
    report.times.are_written = from.value("writes_times", true);
    report.waits.for_writers = from.value("waits_for", std::vector<std::string>());
    report.waits.for_case = from.value("waits_for_case", std::string());
    if (from.contains("standstill")) report.waits.for_room = standstill_from(from.at("standstill"));
    if (from.contains("answer")) report.answer = {from.at("answer").at("request"), from.at("answer").at("refusal")};
    report.drain = drain_report(from.at("drain"));
    if (from.contains("stability")) report.stability = stability_from(from.at("stability"));
    report.stability.program = from.value("writer", std::string());
    report.stability.steps = from.value("written_times", std::uint64_t{0});
    report.stability.mean = from.value("written_time_seconds", 0.0);
    return report;
  } catch (const json::exception& failure) {
    return error(Code::failed, fmt::format("not a report of a node ({})", failure.what()));
  }
}

Result<NodeReport> read_node_report(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return forward(text);
  return node_report_from_json(*text);
}

std::vector<std::string> node_report_paths(const std::string& control_directory) {
  std::vector<std::string> paths;
  const auto entries = list_directory(control_directory);
  if (!entries) return paths;
  for (const DirectoryEntry& entry : *entries)
    if (entry.name.starts_with("node-") && entry.name.ends_with(".json"))
      paths.push_back(join(control_directory, entry.name));
  return paths;
}

// Ranks of a node that do not follow each other cannot share a file.
void explain_groups(RunReport& report) {
  for (const NodeReport& node : report.nodes)
    if (node.drain.groups.size() > 1)
      report.messages.push_back(fmt::format(
          "{}: its ranks are not contiguous, so its collated times lie in {}; fewer files come of an order that "
          "fills node after node (mpirun --map-by core, srun --distribution=block)",
          node.node, plural(node.drain.groups.size(), "group")));
}

// The program's own failure comes first.
void set_exit_status(RunReport& report) {
  report.exit_status = report.program_status;
  if (report.exit_status == 0 && report.trouble) report.exit_status = static_cast<int>(*report.trouble);
}

std::optional<double> step_seconds(const RunReport& report) {
  if (!report.written_time_seconds || !report.steps_per_time) return std::nullopt;
  if (report.written_time_program != report.application) return std::nullopt;
  return *report.written_time_seconds / *report.steps_per_time;
}

void summarise(RunReport& report, bool collated, int all_ranks) {
  std::set<std::pair<int, int>> groups;
  const StabilityReport* pace = nullptr;  // of the program on the node that saw most of it
  for (const NodeReport& node : report.nodes) {
    if (node.stability.steps > (pace == nullptr ? 0 : pace->steps)) pace = &node.stability;
    report.trouble = drain::graver(report.trouble, node.drain.trouble);
    const std::string whose = report.nodes.size() > 1 ? node.node + ": " : "";
    for (const std::string& message : node.drain.messages) report.messages.push_back(whose + message);
    for (const std::string& notice : node.drain.notices) report.notices.push_back(whose + notice);
    report.program_seconds = std::max(report.program_seconds, node.lasted.program_seconds);
    report.stage_seconds = std::max(report.stage_seconds, node.lasted.stage_seconds);
    groups.insert(node.drain.groups.begin(), node.drain.groups.end());
  }
  if (pace != nullptr) {
    report.written_time_seconds = pace->mean;
    report.written_time_program = pace->program;
  }
  if (collated && !groups.empty()) report.io_ranks = layouts::io_ranks({groups.begin(), groups.end()});
  if (collated) explain_groups(report);
  report.last_complete = complete_of(report.nodes, all_ranks);
  report.last_safe = safe_of(report.nodes, all_ranks);
  set_exit_status(report);
}

void add_trouble(RunReport& report, Code code, const std::string& message) {
  report.trouble = drain::graver(report.trouble, code);
  report.messages.push_back(message);
  set_exit_status(report);
}

std::string to_json(const RunReport& report) {
  json agents = json::array(), nodes = json::array(), stability = json::array(), messages = json::array(),
       notices = json::array();
  for (const NodeReport& node : report.nodes) {
    if (!node.stability.course.empty()) {
      stability.push_back(json_of(node.stability));
      stability.back()["node"] = node.node;
    }
    agents.push_back({{"node", node.node},
                      {"peak_resident_bytes", node.used.agent_peak_bytes},
                      {"cpu_seconds", node.used.agent_cpu_seconds}});
    nodes.push_back(json_of(node));
    nodes.back().erase("stability");
  }
  for (const std::string& message : report.messages) messages.push_back(printable(message));
  for (const std::string& notice : report.notices) notices.push_back(printable(notice));
  const drain::Amounts all = amounts_of(report.nodes);
  const json out{{"forebay_version", FOREBAY_VERSION},
                 {"case", printable(report.case_path)},
                 {"run", report.run},
                 {"command", printable(report.command)},
                 {"ranks", report.ranks},
                 {"wall_seconds", report.wall_seconds},
                 {"program_seconds", report.program_seconds},
                 {"stage_seconds", report.stage_seconds},
                 {"step_seconds", or_null(step_seconds(report))},
                 {"written_time_seconds", or_null(report.written_time_seconds)},
                 {"written_time_program", report.written_time_seconds ? json(report.written_time_program) : json()},
                 {"local",
                  {{"files", all.written.files},
                   {"bytes", all.written.bytes},
                   {"at_least", all.written_is_more},
                   {"unseen_times", all.unseen_times}}},
                 {"shared", all.shared},
                 {"never_shared", all.never_shared},
                 {"never_shared_files", all.never_shared.files},
                 {"read_back", all.read_back},
                 {"undrained", all.undrained},
                 {"drain_lag_seconds", or_null(all.lag_seconds)},
                 {"io_ranks", report.io_ranks},
                 {"last_complete", or_null(report.last_complete)},
                 {"last_safe", or_null(report.last_safe)},
                 {"agents", agents},
                 {"timeline", report.nodes.empty() ? json::array() : json(report.nodes.front().drain.timeline)},
                 {"stability", stability},
                 {"messages", messages},
                 {"notices", notices},
                 {"nodes", nodes},
                 {"program_status", report.program_status},
                 {"exit_status", report.exit_status}};
  return out.dump(1);
}

namespace {
// A launcher or shell that cannot start a program ends with 126 or 127; a program that has written something had begun.
bool has_begun(const RunReport& report) {
  if (report.nodes.empty()) return false;
  const bool told_so = report.program_status == 126 || report.program_status == 127;
  const drain::Amounts all = amounts_of(report.nodes);
  return !told_so || report.trouble || all.written.files != 0 || all.shared.files != 0;
}

std::string text_of(const drain::Amount& amount) {
  return fmt::format("{} in {}", human_bytes(amount.bytes), plural(amount.files, "file"));
}

std::string shared_text(const drain::Carried& shared) {
  const std::string text = text_of({shared.files, shared.bytes});
  if (shared.again == 0) return text;
  return fmt::format("{}; some changed and were carried again, {} in all", text, plural(shared.again, "time"));
}
}  // namespace

std::string to_text(const RunReport& report) {
  std::string text;
  if (!has_begun(report)) {
    for (const std::string& message : report.messages) text += "  ! " + printable(message) + "\n";
    return text + fmt::format("forebay: no program was started; exit status {}\n", report.exit_status);
  }
  const auto line = [&](const std::string& name, const std::string& value) {
    text += fmt::format("  {:<22}{}\n", name, value);
  };
  text += fmt::format("forebay: run {} on {}\n", report.run, printable(report.case_path));
  line("wall time",
       fmt::format("{} (staging {}, program {})", human_duration(std::chrono::duration<double>(report.wall_seconds)),
                   human_duration(std::chrono::duration<double>(report.stage_seconds)),
                   human_duration(std::chrono::duration<double>(report.program_seconds))));
  const auto step = step_seconds(report);
  const auto pace = [&](const std::string& name, double seconds) {
    line(name, fmt::format("{} ({})", human_duration(std::chrono::duration<double>(seconds)),
                           printable(report.written_time_program)));
  };
  if (step) pace("time per step", *step);
  if (report.written_time_seconds && !(step && report.steps_per_time == 1))
    pace("per written time", *report.written_time_seconds);
  const drain::Amounts all = amounts_of(report.nodes);
  line("written locally", (all.written_is_more ? "at least " : "") + text_of(all.written) +
                              (all.unseen_times == 0 ? std::string()
                                                     : fmt::format("; {} came and went between two looks",
                                                                   plural(all.unseen_times, "time directory"))));
  line("to the shared system", shared_text(all.shared));
  if (all.never_shared.files != 0)
    line("never had to go there", text_of(all.never_shared) + ", deleted or replaced by the program");
  if (all.read_back.files != 0) line("read locally again", text_of(all.read_back) + " that the run had written");
  std::set<std::string> in_memory;
  for (const NodeReport& node : report.nodes) in_memory.insert(node.pool.in_memory.begin(), node.pool.in_memory.end());
  if (!in_memory.empty())
    line("pools in memory",
         printable(fmt::format("{}", fmt::join(in_memory, ", "))) +
             ": part of the job's memory; a restart of the node empties them, at some sites a logout");
  if (all.lag_seconds) line("drain lag", human_duration(std::chrono::duration<double>(*all.lag_seconds)));
  if (report.last_complete || report.last_safe)
    line("last complete time",
         report.last_complete == report.last_safe
             ? *report.last_complete
             : fmt::format("{} (safe: {})", report.last_complete.value_or("none"), report.last_safe.value_or("none")));
  if (!report.io_ranks.empty())
    line("collated groups", fmt::format("for -fileHandler collated: FOAM_IORANKS='{}'", report.io_ranks));
  for (const std::string& notice : report.notices) line("note", printable(notice));
  for (const std::string& message : report.messages) text += "  ! " + printable(message) + "\n";
  if (report.trouble)
    if (const std::string helps = advice::what_helps(*report.trouble, report.case_path); !helps.empty())
      line("what helps", printable(helps));
  line("exit status", report.exit_status == report.program_status
                          ? fmt::format("{}", report.exit_status)
                          : fmt::format("{} (the program's own: {})", report.exit_status, report.program_status));
  return text;
}

}  // namespace forebay::launch
