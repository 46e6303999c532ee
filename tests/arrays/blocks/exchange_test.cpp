#include <optional>

#include "mpi_calls.h"
#include "numbering.h"

namespace forebay::blocks {
namespace {

// Every block holds its items afterwards, summed while they were copied, and every rank gets back what it gave.
void expect_there_and_back(const Team& team, const Numbering& numbering, const PlanRequest& request,
                           std::optional<bool> owner_stores = {}) {
  const auto numbers = numbers_of(numbering, team.ranks(), team.rank());
  const Plan plan = must(Plan::make(team, numbers, numbering.items, request));
  EXPECT_EQ(plan.owner_stores(), owner_stores.value_or(plan.owner_stores()));
  Exchange exchange(plan);
  NodeMemory image;
  for (const std::size_t item_bytes : {1, 4, 8, 12, 24, 40, 8}) {
    ASSERT_TRUE(image.reserve(team.node(), exchange.layout().items * item_bytes + 1));
    const auto items = items_of(numbers, item_bytes);
    slots::ItemSum copied;
    ASSERT_TRUE(exchange.to_image(items.data(), item_bytes, image.data(), &copied));
    const auto block = exchange.my_block(image.data(), item_bytes);
    slots::ItemSum read;
    read.add(item_bytes, block.data(), plan.block().count, plan.block().first);
    const NodeSums by_all(team, {copied.value(), copied.bytes()}), of_image(team, {read.value(), read.bytes()});
    EXPECT_EQ(by_all.all, of_image.all) << "each byte once, items of " << item_bytes << " bytes";
    const auto expected = items_of(plan.block(), item_bytes);
    EXPECT_TRUE(std::equal(block.begin(), block.end(), expected.begin(), expected.end()))
        << "items of " << item_bytes << " bytes";
    std::vector<std::byte> back(items.size());
    ASSERT_TRUE(exchange.from_image(image.data(), item_bytes, back.data()));
    EXPECT_EQ(back, items) << "items of " << item_bytes << " bytes";
  }
}

TEST(Exchange, BringsScatteredItemsToTheirBlocksAndBack) {
  for (const int most_per_node : {0, 1, 2, 3}) {
    const Team team = must(Team::of(MPI_COMM_WORLD, most_per_node));
    for (const std::uint64_t items : {0, 1, 5, 1000, 20'011}) {
      for (const std::uint64_t run : {1, 32}) {
        for (const BlockRequest& blocks : {BlockRequest{0, 8, 1, 0}, BlockRequest{0, 8, 2, 0}, BlockRequest{0, 8, 1, 1},
                                           BlockRequest{4000, 8, 1, 0}}) {
          SCOPED_TRACE(testing::Message() << items << " items in runs of " << run << ", nodes of " << most_per_node
                                          << ", step " << blocks.rank_step << ", at most " << blocks.most_blocks);
          expect_there_and_back(team, {items, items + run, run, 1, false}, {blocks, Shared::refused});
        }
      }
    }
  }
}

TEST(Exchange, PutsItemsTogetherOfWhichSomeRanksAreInOrder) {
  for (const int most_per_node : {0, 1, 2, 3}) {
    const Team team = must(Team::of(MPI_COMM_WORLD, most_per_node));
    const PlanRequest request = {{0, 8, 1, 0}, Shared::refused};
    for (const int empty_rank : {-1, 1}) {
      for (const int ordered_rank : {0, 2}) {
        SCOPED_TRACE(testing::Message() << "nodes of " << most_per_node << ", rank " << empty_rank << " is empty, "
                                        << ordered_rank << " in order");
        const bool some_in_no_order = team.ranks() > 2 || (team.ranks() > 1 && empty_rank < 0) || ordered_rank != 0;
        expect_there_and_back(team, {70'001, 11, 1, empty_rank, false, ordered_rank}, request, some_in_no_order);
      }
    }
    expect_there_and_back(team, {70'001, 11, 1, -1, true}, {request.blocks, Shared::once}, team.ranks() == 1);
    expect_there_and_back(team, {70'001, 11, 1}, {{0, 8, 2, 0}, Shared::refused}, team.ranks() == 1);
  }
}

TEST(Exchange, SendsOneMessageForEachPairOfNodesAndNoneWithinOne) {
  for (const int most_per_node : {0, 1, 2}) {
    const Team team = must(Team::of(MPI_COMM_WORLD, most_per_node));
    for (const std::uint64_t run : {1, 32}) {
      SCOPED_TRACE(testing::Message() << "runs of " << run << ", nodes of " << most_per_node);
      const auto numbers = numbers_of({20'011, 1, run}, team.ranks(), team.rank());
      const Plan plan = must(Plan::make(team, numbers, 20'011, {{0, 8, 1, 0}, Shared::refused}));
      Exchange exchange(plan);
      NodeMemory image;
      must(image.reserve(team.node(), exchange.layout().items * 8));
      auto items = items_of(numbers, 8);
      const int expected = team.is_leader() ? team.nodes() - 1 : 0;
      mpi_calls() = {};
      must(exchange.to_image(items.data(), 8, image.data()));
      EXPECT_EQ(mpi_calls().messages, expected);
      mpi_calls() = {};
      must(exchange.from_image(image.data(), 8, items.data()));
      EXPECT_EQ(mpi_calls().messages, expected);
    }
  }
}

TEST(Exchange, WritesSharedItemsOnceAndReadsThemEverywhere) {
  for (const int most_per_node : {0, 2}) {
    const Team team = must(Team::of(MPI_COMM_WORLD, most_per_node));
    for (const std::uint64_t run : {1, 16}) {
      SCOPED_TRACE(testing::Message() << "runs of " << run << ", nodes of " << most_per_node);
      const Numbering numbering{5000, 3, run, -1, true};
      expect_there_and_back(team, numbering, {{0, 8, 1, 0}, Shared::once});
      const auto numbers = numbers_of(numbering, team.ranks(), team.rank());
      const Plan plan = must(Plan::make(team, numbers, numbering.items, {{0, 8, 1, 0}, Shared::once}));
      EXPECT_EQ(over_all(team.all(), plan.writing().outgoing.items(), MPI_SUM), numbering.items);
      EXPECT_EQ(plan.reading().outgoing.items(), numbers.size());
    }
  }
}

TEST(Exchange, TakesSharedItemsFromTheLowestRank) {
  const Team team = must(Team::of(MPI_COMM_WORLD, 2));
  std::vector<std::uint64_t> numbers = {3, 1, 2};  // on every rank
  const Plan plan = must(Plan::make(team, numbers, 3, {{0, 8, 1, 0}, Shared::once}));
  Exchange exchange(plan);
  NodeMemory image;
  ASSERT_TRUE(image.reserve(team.node(), 64));
  std::vector<int> values(3, 100 + team.rank()), back(3);
  ASSERT_TRUE(exchange.to_image(std::as_bytes(std::span(values)).data(), sizeof(int), image.data()));
  ASSERT_TRUE(exchange.from_image(image.data(), sizeof(int), std::as_writable_bytes(std::span(back)).data()));
  EXPECT_EQ(back, (std::vector<int>(3, 100)));
}

}  // namespace
}  // namespace forebay::blocks
