#include "arrays/blocks/lists.h"

#include <fmt/format.h>

#include <algorithm>

#include "arrays/blocks/order.h"

namespace forebay::blocks {
namespace {

std::span<ListRange> ranges_in(std::span<std::byte> block) {
  return {reinterpret_cast<ListRange*>(block.data()), block.size() / sizeof(ListRange)};
}

}  // namespace

Result<Lists> number_lists(Exchange& items, std::span<const std::uint64_t> lengths) {
  const Team& team = items.plan().team();
  const auto negative = std::find_if(lengths.begin(), lengths.end(),
                                     [](std::uint64_t length) { return static_cast<std::int64_t>(length) < 0; });
  Status possible;
  if (negative != lengths.end())
    possible = error(Code::bad_input, fmt::format("the list at position {} of rank {} cannot have {} values",
                                                  negative - lengths.begin(), team.rank(), as_given(*negative)));
  if (auto ok = team.agree(possible); !ok) return forward(ok);
  NodeMemory image;
  if (auto ok = team.agree(image.reserve(team.node(), items.layout().items * sizeof(ListRange))); !ok)
    return forward(ok);
  Lists lists;
  for (const std::uint64_t length : lengths) lists.ranges.push_back({0, length});
  auto* mine = reinterpret_cast<std::byte*>(lists.ranges.data());
  if (auto ok = items.to_image(mine, sizeof(ListRange), image.data()); !ok) return forward(ok);

  // In the blocks the items are in order: each list begins where the one before ends.
  const std::span block = ranges_in(items.my_block(image.data(), sizeof(ListRange)));
  std::uint64_t sum = 0;
  for (const ListRange& range : block) sum += range.end;
  std::uint64_t next = 0;
  MPI_Exscan(&sum, &next, 1, MPI_UINT64_T, MPI_SUM, team.all());
  if (team.rank() == 0) next = 0;
  for (ListRange& range : block) {
    range.first = next;
    next = range.end += range.first;
  }
  lists.values = over_all(team.all(), sum, MPI_SUM);
  if (auto ok = items.from_image(image.data(), sizeof(ListRange), mine); !ok) return forward(ok);
  Status fits;
  for (std::size_t i = 0; i < lengths.size() && fits; ++i) {
    const std::uint64_t length = lists.ranges[i].end - lists.ranges[i].first;
    if (length == lengths[i]) continue;
    fits = error(Code::bad_input,
                 fmt::format("the list at position {} of rank {} has {} values, where another rank's has {}", i,
                             team.rank(), lengths[i], length));
  }
  if (auto ok = team.agree(fits); !ok) return forward(ok);
  return lists;
}

Result<Plan> plan_of_lists(const Team& team, std::span<const ListRange> ranges, std::uint64_t values,
                           const PlanRequest& request) {
  std::vector<std::uint64_t> numbers;
  Status fits;
  for (std::size_t i = 0; i < ranges.size() && fits; ++i) {
    const auto [first, end] = ranges[i];
    if (first > end || end > values) {
      fits = error(Code::bad_input, fmt::format("the list at position {} of rank {} is {} .. {} of {} values", i,
                                                team.rank(), as_given(first), as_given(end), as_given(values)));
    }
    for (std::uint64_t value = first; fits && value < end; ++value) numbers.push_back(value + 1);
  }
  if (auto ok = team.agree(fits); !ok) return forward(ok);
  return Plan::make(team, numbers, values, request);
}

}  // namespace forebay::blocks
