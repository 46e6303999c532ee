// A call of the core as JSON, so that the same rules in Python can answer it, too.
#include <nlohmann/json.hpp>
#include <ostream>

#include "run.h"

namespace forebay::simulator {
namespace {

using nlohmann::json;

json of(const LineId& line) {
  return {line.time, line.sequence};
}
json of(const std::optional<LineId>& line) {
  return line ? of(*line) : json();
}
json of(const StateId& state) {
  return {state.has_state ? 1 : 0, state.number, state.time};
}

json of(const std::set<StateId>& states) {
  json list = json::array();
  for (const StateId& each : states) list.push_back(of(each));
  return list;
}

json of(const core::Line& line) {
  return {{"begun_at", line.begun_at},
          {"state", line.state},
          {"mesh", of(line.mesh)},
          {"cut", line.cut},
          {"begun_before", line.begun_before}};
}

json of(const core::Page& page) {
  return {{"begun", page.begun},
          {"states", page.states},
          {"place", page.place},
          {"ended", page.ended},
          {"collated", page.collated}};
}

json of(const core::RankLook& look) {
  json lines = json::array();
  for (const auto& each : look.lines) {
    json files = json::object();
    for (const auto& [name, facts] : each.files) files[name] = {facts.open, facts.torn, facts.modified};
    lines.push_back({{"id", of(each.after.id)},
                     {"line", of(each.after)},
                     {"changed", core::is_changed(each)},
                     {"files", files},
                     {"kept", each.kept}});
  }
  return {{"before", of(look.before)}, {"after", of(look.after)}, {"lines", lines}};
}

json of(const core::Action& action) {
  using Kind = core::Action::Kind;
  switch (action.kind) {
    case Kind::note_written:
      return {"written", action.names};
    case Kind::free:
      return {"free", action.rank, of(action.line)};
    case Kind::set_window:
      return {"pace", action.window};
    case Kind::take:
      return {"take", of(action.state)};
    case Kind::carry:
      return {"carry", of(action.state)};
    case Kind::call_safe:
      return {"safe", of(action.state)};
    case Kind::end:
      return {"end"};
  }
  return {};
}

}  // namespace

void Run::note_decision(const std::map<Rank, core::RankLook>& looks, const core::Seen& seen, const core::Ledger& ledger,
                        const core::Reports& reports, const std::vector<core::Action>& actions) const {
  if (!decisions_to) return;
  json ranks = json::object(), heard = json::object(), done = json::array();
  for (const auto& [rank, look] : looks) ranks[std::to_string(rank)] = of(look);
  for (const auto& [node, report] : reports) heard[std::to_string(node)] = {of(report.carried), report.drained};
  for (const core::Action& each : actions) done.push_back(of(each));
  const json line{{"ranks", ranks},
                  {"now", seen.now},
                  {"ended", seen.ended},
                  {"held", of(seen.held)},
                  {"reports", heard},
                  {"actions", done},
                  {"nodes", habits.nodes},
                  {"interval", habits.interval},
                  {"start", habits.start ? json(*habits.start) : json()},
                  {"ledger",
                   {{"node", ledger.node},
                    {"window", ledger.window},
                    {"carried_at", ledger.carried_at},
                    {"safe", ledger.safe ? of(*ledger.safe) : json()},
                    {"carried", of(ledger.carried)},
                    {"written", ledger.written},
                    {"drained", ledger.drained}}}};
  *decisions_to << line << '\n';
}

}  // namespace forebay::simulator
