#include "arrays/blocks/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/text.h"

namespace forebay::blocks {
namespace {

constexpr unsigned kDigit = 9;  // two lines of each of 512 open streams still fit into the near caches
constexpr std::size_t kWordsOfLine = 64 / sizeof(std::uint64_t);
constexpr unsigned kNear = 5;  // so many items are a few lines of a cache, which may be filled in any order

unsigned bits_of(std::uint64_t count) {
  return count == 0 ? 0 : static_cast<unsigned>(std::bit_width(count - 1));
}

// One pass of a radix sort: sorted[] receives the words in the order of a digit of theirs.
void sort_by_digit(const Large<std::uint64_t>& words, unsigned shift, unsigned bits, Large<std::uint64_t>& sorted) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::array<std::size_t, std::size_t{1} << kDigit> places{};
  for (const std::uint64_t word : words) ++places[(word >> shift) & mask];
  std::size_t place = 0;
  for (std::size_t& each : places) place += std::exchange(each, place);
  for (const std::uint64_t word : words) {
    std::uint64_t* const to = sorted.data() + places[(word >> shift) & mask]++;
    *to = word;
    // The line that this stream comes to next: waiting for each would take three times as long as all else. Nothing
    // happens where it lies behind the end.
    __builtin_prefetch(to + kWordsOfLine);
  }
}

}  // namespace

std::string as_given(std::uint64_t number) {
  return std::to_string(static_cast<std::int64_t>(number));
}

Result<Survey> survey(std::span<const std::uint64_t> numbers, std::uint64_t items) {
  if (numbers.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    return error(Code::bad_input, fmt::format("{} on one rank are more than 2^31 - 1", plural(numbers.size(), "item")),
                 {}, "use more ranks");
  }
  if (bits_of(items) + bits_of(numbers.size()) > 64) {
    return error(Code::bad_input,
                 fmt::format("{}, {} of them on one rank, are too many", plural(items, "item"), numbers.size()));
  }
  Survey survey;
  bool in_range = true;
  std::uint64_t before = 0;
  for (const std::uint64_t number : numbers) {
    in_range &= number - 1 < items;  // 0 wraps to the largest number, so one comparison finds both ends
    survey.rising &= before < number;
    survey.runs += before + 1 != number ? 1 : 0;
    before = number;
  }
  if (!numbers.empty() && numbers.front() == 1) ++survey.runs;
  if (in_range) return survey;
  const auto wrong =
      std::find_if(numbers.begin(), numbers.end(), [&](std::uint64_t each) { return each - 1 >= items; });
  return error(Code::bad_input, fmt::format("global number {} at position {} is not in 1 .. {}", as_given(*wrong),
                                            wrong - numbers.begin(), items));
}

Order::Order(std::span<const std::uint64_t> numbers, const Survey& survey, std::uint64_t items,
             std::uint64_t block_items)
    : numbers_(numbers),
      block_items_(block_items),
      position_bits_(bits_of(numbers.size())),
      position_mask_((std::uint64_t{1} << position_bits_) - 1) {
  // A bucket of near items is no larger than a block, so that it lies in two of them at most.
  const unsigned near_bits = std::min(kNear, static_cast<unsigned>(std::bit_width(block_items)) - 1);
  take_runs(survey.runs + items / block_items);
  peak_bytes_ = words_.capacity() * sizeof(std::uint64_t);
  if (survey.rising) return;
  sort(near_bits, bits_of(items));
  cut_at_blocks(near_bits, items);
}

void Order::take_runs(std::uint64_t most) {
  words_.reserve(most);
  std::uint64_t next = 0, block_end = 0;
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const std::uint64_t item = numbers_[i] - 1;
    if (item != next || item == block_end || i == 0) {
      words_.push_back(word_of(i));
      block_end = (item / block_items_ + 1) * block_items_;
    }
    next = item + 1;
  }
}

std::uint32_t Order::count(std::size_t k, std::uint64_t block_end) const {
  const std::uint64_t* first = numbers_.data() + position(k);
  const auto most = std::min<std::uint64_t>(block_end - item(k), numbers_.size() - position(k));
  std::uint32_t count = 1;
  while (count < most && first[count] == first[0] + count) ++count;
  return count;
}

// Digit by digit, from the lowest that counts on.
void Order::sort(unsigned near_bits, unsigned item_bits) {
  const unsigned bits = item_bits > near_bits ? item_bits - near_bits : 0;
  const unsigned passes = (bits + kDigit - 1) / kDigit;
  Large<std::uint64_t> sorted;
  for (unsigned pass = 0; pass < passes; ++pass) {
    const unsigned from = bits * pass / passes, to = bits * (pass + 1) / passes;
    const unsigned shift = position_bits_ + near_bits + from;
    sorted.resize(words_.size());
    sort_by_digit(words_, shift, to - from, sorted);
    words_.swap(sorted);
  }
  peak_bytes_ += sorted.capacity() * sizeof(std::uint64_t);
}

// A bucket of near items in which a block ends has those of this block first.
void Order::cut_at_blocks(unsigned near_bits, std::uint64_t items) {
  const auto bucket_of = [&](std::uint64_t word) { return word >> (position_bits_ + near_bits); };
  auto first = words_.begin();
  for (std::uint64_t end = block_items_; end < items; end += block_items_) {
    const std::uint64_t bucket = end >> near_bits;
    first = std::partition_point(first, words_.end(), [&](std::uint64_t word) { return bucket_of(word) < bucket; });
    const auto last =
        std::partition_point(first, words_.end(), [&](std::uint64_t word) { return bucket_of(word) == bucket; });
    first = std::stable_partition(first, last, [&](std::uint64_t word) { return word >> position_bits_ < end; });
  }
}

std::size_t Order::end_of_block(std::size_t from, std::uint64_t block_end) const {
  const auto end = std::partition_point(words_.begin() + static_cast<std::ptrdiff_t>(from), words_.end(),
                                        [&](std::uint64_t word) { return word >> position_bits_ < block_end; });
  return static_cast<std::size_t>(end - words_.begin());
}

}  // namespace forebay::blocks
