#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "base/text.h"
#include "store/schedule/binomial.h"
#include "store/schedule/schedule.h"

namespace forebay::schedule {
namespace {

Status check(const Question& q) {
  const auto bad = [](std::string_view what) { return error(Code::bad_input, what); };
  if (q.steps < 1) return bad("a schedule needs at least one step");
  if (q.bytes_per_step == 0) return bad("a state has at least one byte");
  for (const double seconds : {q.forward_seconds, q.adjoint_seconds, q.dram.write_seconds, q.dram.read_seconds,
                               q.pool.write_seconds, q.pool.read_seconds})
    if (!std::isfinite(seconds) || seconds < 0) return bad("the measured times must be numbers of at least 0");
  if (q.steps > 1 && q.dram.budget < q.bytes_per_step && q.pool.budget < q.bytes_per_step)
    return error(Code::bad_input,
                 fmt::format("a state of {} fits into no tier ({} of dram, {} of pool)", human_bytes(q.bytes_per_step),
                             human_bytes(q.dram.budget), human_bytes(q.pool.budget)),
                 {}, "give one of them room for one state at least");
  return {};
}

Step slots_in(const Tier& tier, const Question& q) {
  return static_cast<Step>(
      std::min<std::uint64_t>(tier.budget / q.bytes_per_step, static_cast<std::uint64_t>(q.steps - 1)));
}

std::size_t number_of(Storage storage) {
  return storage == Storage::pool ? 1 : 0;
}

void count_transfers(const Question& q, Plan& plan) {
  if (plan.store_all) {  // each state but the last is written once and read once
    plan.written[0] = plan.read[0] = static_cast<std::uint64_t>(plan.slots.dram);
    plan.written[1] = plan.read[1] = static_cast<std::uint64_t>(plan.slots.pool);
    return;
  }
  Schedule schedule(q.steps, plan.slots);
  while (const auto action = schedule.next()) {
    if (const auto* f = std::get_if<Forward>(&*action); f && f->keep_state) ++plan.written[number_of(f->storage)];
    if (const auto* c = std::get_if<Copy>(&*action)) ++plan.read[number_of(c->from)];
    if (const auto* m = std::get_if<Move>(&*action)) ++plan.read[number_of(m->from)];
  }
}

Plan predict(const Question& q, Slots slots) {
  Plan plan;
  plan.slots = slots;
  plan.store_all = slots.total() >= q.steps - 1;
  plan.forward_steps = forward_steps(q.steps, slots.total());
  count_transfers(q, plan);
  // One step more: the last, whose outcome the adjoint starts from.
  plan.predicted_seconds = (static_cast<double>(plan.forward_steps) + 1) * q.forward_seconds +
                           static_cast<double>(q.steps) * q.adjoint_seconds;
  const Tier tiers[] = {q.dram, q.pool};
  for (std::size_t i = 0; i < 2; ++i) {
    const double hidden_write = q.overlapped ? q.forward_seconds : 0;
    const double hidden_read = q.overlapped ? q.adjoint_seconds : 0;
    plan.predicted_seconds +=
        static_cast<double>(plan.written[i]) * std::max(0.0, tiers[i].write_seconds - hidden_write) +
        static_cast<double>(plan.read[i]) * std::max(0.0, tiers[i].read_seconds - hidden_read);
  }
  return plan;
}

// Numbers of slots worth a look: all, those in dram, powers of two, and the least with which no step is run more than r
// times; between these the cost changes smoothly.
std::vector<Step> candidates(Step steps, Step dram, Step most) {
  std::vector<Step> result{most};
  if (dram > 0) result.push_back(dram);
  for (Step s = 1; s < most; s *= 2) result.push_back(s);
  for (Step r = 1; r <= 12; ++r) {
    Step low = 1, high = most;
    while (low < high) {
      const Step middle = low + (high - low) / 2;
      reach(middle, r) >= steps ? high = middle : low = middle + 1;
    }
    result.push_back(low);
  }
  std::sort(result.begin(), result.end(), std::greater<>());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace

std::string Plan::text() const {
  const auto seconds = std::chrono::duration<double>(predicted_seconds);
  return fmt::format("{}: {} in dram, {} in the pool; {}; predicted {}", store_all ? "store all" : "binomial",
                     plural(slots.dram, "state"), slots.pool, plural(forward_steps, "forward step"),
                     human_duration(seconds));
}

Result<Plan> plan(const Question& question) {
  if (const auto good = check(question); !good) return forward(good);
  if (question.steps == 1) return predict(question, {});
  const Step dram = slots_in(question.dram, question);
  const Step most = std::min(dram + slots_in(question.pool, question), question.steps - 1);
  Plan best;
  best.predicted_seconds = std::numeric_limits<double>::infinity();
  for (const Step slots : candidates(question.steps, dram, most)) {
    const Step in_dram = std::min(slots, dram);
    const Plan plan = predict(question, {in_dram, slots - in_dram});
    if (plan.predicted_seconds < best.predicted_seconds) best = plan;
  }
  return best;
}

}  // namespace forebay::schedule
