#include "run/cli/standing.h"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::cli {
namespace {

using namespace std::chrono_literals;

// The time between two lines. The first one comes at once.
constexpr std::chrono::seconds at_terminal = 10s, elsewhere = 30s;

}  // namespace

std::optional<std::string> StandingLines::next(const std::vector<launch::NodeReport>& nodes, Clock::time_point now) {
  const auto is_running = [](const launch::NodeReport& node) { return node.phase == launch::Phase::running; };
  const auto stands = [](const launch::NodeReport& node) { return node.waits.for_room.has_value(); };
  // When the program has ended, that it is not held back says nothing.
  if (std::ranges::none_of(nodes, is_running)) return std::nullopt;
  const auto node = std::ranges::find_if(nodes, stands);
  const bool standing = node != nodes.end();
  const bool same = standing == told_.has_value() && (!standing || node->waits.for_room->has_reason_of(*told_));
  if (same && (terminal_ || !standing)) return std::nullopt;
  if (told_at_ && now - *told_at_ < (terminal_ ? at_terminal : elsewhere)) return std::nullopt;
  told_at_ = now;
  told_ = standing ? node->waits.for_room : std::nullopt;
  const std::string where = nodes.size() > 1 && standing ? "node " + node->node + ": " : "";
  if (standing) return where + launch::to_text(*node->waits.for_room);
  std::uint64_t held = 0;
  for (const launch::NodeReport& each : nodes) held = std::max(held, each.lasted.paused_milliseconds);
  return "the program goes on; it was held back for " + human_duration(std::chrono::milliseconds(held)) + " so far";
}

}  // namespace forebay::cli
