#include "blocks/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace forebay::blocks {
namespace {

// A least-significant-digit radix sort by the bits from `low` to `high`; `words` is replaced.
void sort_by_bits(std::vector<std::uint64_t>& words, unsigned low, unsigned high) {
  constexpr unsigned kDigit = 9;  // 512 open streams still fit into the first cache
  constexpr std::size_t kDigits = std::size_t{1} << kDigit;
  std::vector<std::uint64_t> sorted(words.size());
  for (unsigned shift = low; shift < high; shift += kDigit) {
    std::array<std::size_t, kDigits> places{};
    for (const std::uint64_t word : words) ++places[(word >> shift) & (kDigits - 1)];
    std::size_t place = 0;
    for (std::size_t& each : places) place += std::exchange(each, place);
    for (const std::uint64_t word : words) sorted[places[(word >> shift) & (kDigits - 1)]++] = word;
    words.swap(sorted);
  }
}

}  // namespace

Result<Order> Order::of(std::span<const std::uint64_t> numbers, std::uint64_t items) {
  if (numbers.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    return error(Code::bad_input, fmt::format("{} items on one rank are more than 2^31 - 1", numbers.size()), {},
                 "use more ranks");
  }
  Order order;
  order.position_bits_ = numbers.empty() ? 0 : static_cast<unsigned>(std::bit_width(numbers.size() - 1));
  order.position_mask_ = (std::uint64_t{1} << order.position_bits_) - 1;
  const unsigned item_bits = items == 0 ? 0 : static_cast<unsigned>(std::bit_width(items - 1));
  if (item_bits + order.position_bits_ > 64) {
    return error(Code::bad_input, fmt::format("{} items, {} of them on one rank, are too many", items, numbers.size()));
  }
  order.words_.resize(numbers.size());
  bool rising = true;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint64_t number = numbers[i];
    // 0 wraps to the largest number, so one comparison finds both ends.
    if (number - 1 >= items) {
      return error(Code::bad_input, fmt::format("global number {} at position {} is not in 1 .. {}", number, i, items));
    }
    rising = rising && before < number;
    before = number;
    order.words_[i] = (number - 1) << order.position_bits_ | i;
  }
  order.peak_bytes_ = order.words_.size() * sizeof(std::uint64_t);
  if (!rising) {
    sort_by_bits(order.words_, order.position_bits_, order.position_bits_ + item_bits);
    order.peak_bytes_ *= 2;
  }
  return order;
}

std::size_t Order::lower_bound(std::size_t from, std::uint64_t item) const {
  const auto found = std::partition_point(words_.begin() + static_cast<std::ptrdiff_t>(from), words_.end(),
                                          [&](std::uint64_t word) { return (word >> position_bits_) < item; });
  return static_cast<std::size_t>(found - words_.begin());
}

}  // namespace forebay::blocks
