#include "arrays/blocks/lists.h"

#include "numbering.h"

namespace forebay::blocks {
namespace {

// The list of an item: `length` values that tell it from every other list.
std::uint64_t length_of(std::uint64_t number) {
  return mixed(number) % 6;  // also none
}
std::vector<std::uint64_t> list_of(std::uint64_t number) {
  std::vector<std::uint64_t> list;
  for (std::uint64_t k = 0; k < length_of(number); ++k) list.push_back(number * 10 + k);
  return list;
}

TEST(Lists, StandBehindEachOtherInTheOrderOfTheirItems) {
  for (const bool with_ghosts : {false, true}) {
    const Team team = must(Team::of(MPI_COMM_WORLD, 2));
    const Numbering numbering{2000, 9, 4, 1, with_ghosts};
    const PlanRequest request{{0, 8, 1, 0}, with_ghosts ? Shared::once : Shared::refused};
    const auto numbers = numbers_of(numbering, team.ranks(), team.rank());
    const Plan plan = must(Plan::make(team, numbers, numbering.items, request));
    Exchange items(plan);
    std::vector<std::uint64_t> lengths, values;
    for (const std::uint64_t number : numbers) {
      const auto list = list_of(number);
      lengths.push_back(list.size());
      values.insert(values.end(), list.begin(), list.end());
    }
    const Lists lists = must(number_lists(items, lengths));
    const Plan value_plan = must(plan_of_lists(team, lists.ranges, lists.values, request));
    Exchange exchange(value_plan);
    NodeMemory image;
    must(image.reserve(team.node(), exchange.layout().items * 8));
    must(exchange.to_image(std::as_bytes(std::span(values)).data(), 8, image.data()));

    std::vector<std::uint64_t> expected;
    for (std::uint64_t number = 1; number <= numbering.items; ++number) {
      const auto list = list_of(number);
      expected.insert(expected.end(), list.begin(), list.end());
    }
    ASSERT_EQ(lists.values, expected.size());
    const auto block = exchange.my_block(image.data(), 8);
    const auto wanted = std::as_bytes(std::span(expected)).subspan(value_plan.block().first * 8, block.size());
    EXPECT_TRUE(std::equal(block.begin(), block.end(), wanted.begin(), wanted.end()));
    std::vector<std::uint64_t> back(values.size());
    must(exchange.from_image(image.data(), 8, std::as_writable_bytes(std::span(back)).data()));
    EXPECT_EQ(back, values);
  }
}

TEST(Lists, OfOneItemWithDifferentLengthsAreRefused) {
  const Team team = must(Team::of(MPI_COMM_WORLD));
  if (team.ranks() == 1) GTEST_SKIP() << "needs two ranks";
  const std::vector<std::uint64_t> numbers = {2, 1};
  const Plan plan = must(Plan::make(team, numbers, 2, {{0, 8, 1, 0}, Shared::once}));
  Exchange items(plan);
  const std::uint64_t last = team.rank() == team.ranks() - 1 ? 4 : 3;
  const auto lists = number_lists(items, std::vector<std::uint64_t>{7, last});
  ASSERT_FALSE(lists);
  EXPECT_EQ(lists.error().what, "the list at position 1 of rank " + std::to_string(team.ranks() - 1) +
                                    " has 4 values, where another rank's has 3");
}

TEST(Lists, WithNegativeLengthsAreRefused) {
  const Team team = must(Team::of(MPI_COMM_WORLD));
  const std::vector<std::uint64_t> numbers = {index(team.rank()) + 1};
  const Plan plan = must(Plan::make(team, numbers, index(team.ranks()), {{0, 8, 1, 0}, Shared::refused}));
  Exchange items(plan);
  const bool last = team.rank() == team.ranks() - 1;
  const auto lists = number_lists(items, std::vector<std::uint64_t>{static_cast<std::uint64_t>(last ? -1 : 3)});
  ASSERT_FALSE(lists);
  EXPECT_EQ(lists.error().what,
            "the list at position 0 of rank " + std::to_string(team.ranks() - 1) + " cannot have -1 values");
}

TEST(Lists, WithRangesThatMakeNoSenseAreRefused) {
  const Team team = must(Team::of(MPI_COMM_WORLD));
  for (const ListRange wrong : {ListRange{3, 2}, ListRange{0, 11}}) {
    const auto plan = plan_of_lists(team, std::span(&wrong, 1), 10);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, Code::bad_input);
  }
}

}  // namespace
}  // namespace forebay::blocks
