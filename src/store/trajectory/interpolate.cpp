// Fields at times between those of the stored steps.
#include <algorithm>
#include <cstring>

#include "store/trajectory/trajectory.h"

namespace forebay::trajectory {

Done Trajectory::interpolate(double time, int number, void* memory) {
  auto wanted = fields().find(number);
  if (!wanted) return pass_on(wanted);
  const Field& field = **wanted;
  if (memory == nullptr || field.real_bytes == 0) {
    return fail(FOREBAY_E_INVALID, "field {} cannot be interpolated: {}", field.name,
                memory == nullptr ? "no memory for the result" : "it does not hold real or complex numbers");
  }
  Index& index = kept_.index();
  if (index.size() == 0 || !(time >= index[0].time && time <= index[index.size() - 1].time)) {
    if (index.size() == 0) return fail(FOREBAY_E_OUTSIDE, "no step is stored");
    return fail(FOREBAY_E_OUTSIDE, "time {} lies outside of the stored times {} to {}", time, index[0].time,
                index[index.size() - 1].time);
  }
  std::size_t low = 0;
  for (std::size_t high = index.size() - 1; low < high;) {
    const std::size_t middle = low + (high - low + 1) / 2;
    if (index[middle].time <= time) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const std::size_t after = std::min(low + 1, index.size() - 1);
  const std::int64_t steps[2] = {index[low].step, index[after].step};
  const double times[2] = {index[low].time, index[after].time};
  if (times[0] > time || (after != low && times[1] <= times[0])) {
    return fail(FOREBAY_E_INVALID, "times do not grow from step {} ({}) to step {} ({})", steps[0], times[0], steps[1],
                times[1]);
  }
  // One state after the other, so that two slow ones need room for one only.
  auto first = get(steps[0], number);
  if (!first) return pass_on(first);
  std::memcpy(memory, *first, field.bytes);
  (void)release(steps[0]);
  if (times[0] == time) return {};
  auto second = get(steps[1], number);
  if (!second) return pass_on(second);
  const double weight = (time - times[0]) / (times[1] - times[0]);
  with_number(field, [&]<class Number>(Number) {
    const auto* const b = static_cast<const Number*>(*second);
    auto* const out = static_cast<Number*>(memory);
    const auto w = static_cast<Number>(weight);
    for (std::uint64_t i = 0; i < field.numbers(); ++i) out[i] = (Number{1} - w) * out[i] + w * b[i];
  });
  return release(steps[1]);
}

}  // namespace forebay::trajectory
