#include "store/schedule/binomial.h"

#include <algorithm>
#include <limits>

namespace forebay::schedule {
namespace {

constexpr Step largest = std::numeric_limits<Step>::max();
__extension__ typedef __int128 Wide;

Step saturated(Wide value) {
  return value > Wide{largest} ? largest : static_cast<Step>(value);
}

// C(n, k)
Step choose(Step n, Step k) {
  if (k < 0 || k > n) return 0;
  k = std::min(k, n - k);
  Wide value = 1;
  for (Step i = 1; i <= k; ++i) {
    value = value * (n - k + i) / i;  // stays a whole number: C(n-k+i, i)
    if (value > Wide{largest}) return largest;
  }
  return static_cast<Step>(value);
}

}  // namespace

Step reach(Step slots, Step repetitions) {
  if (slots < 0 || repetitions < 0) return 0;
  return choose(slots + repetitions, repetitions);
}

Step repetitions(Step steps, Step slots) {
  if (slots == 1) return steps - 1;
  Step r = 0;
  while (reach(slots, r) < steps) ++r;
  return r;
}

Step advance(Step steps, Step slots) {
  slots = std::min(slots, steps - 1);
  if (slots == 1) return steps - 1;
  // The steps passed over are reversed last, with all slots and one repetition less; the others with one slot less.
  // This is the farthest advance of those that suffice for both and keep the fewest states on the way (Griewank and
  // Walther, figure 4, with beta(s, r) = reach(s, r)).
  const Step r = repetitions(steps, slots);
  const Step rest = steps - reach(slots - 1, r - 1);
  return std::max(std::min(rest, saturated(Wide{reach(slots, r - 2)} + reach(slots - 1, r - 2))),
                  std::min(rest - reach(slots - 2, r - 1), reach(slots, r - 1)));
}

Step forward_steps(Step steps, Step slots) {
  if (steps <= 1) return 0;
  const Step r = repetitions(steps, slots);
  // With one slot the binomial is large, yet known.
  const Wide kept = slots == 1 ? Wide{steps} * (steps - 1) / 2 : Wide{choose(slots + r, r - 1)};
  return saturated(Wide{r} * steps - kept);
}

}  // namespace forebay::schedule
