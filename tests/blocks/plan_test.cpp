#include "numbering.h"

namespace forebay::blocks {
namespace {

class WrongNumbers : public testing::Test {
 protected:
  const Team team = must(Team::of(MPI_COMM_WORLD));
  const Numbering numbering{1000, 5, 4, -1, false};
  std::vector<std::uint64_t> numbers = numbers_of(numbering, team.ranks(), team.rank());

  // The same error on every rank.
  std::string error_of(std::uint64_t items = 1000) {
    const auto plan = Plan::make(team, numbers, items);
    EXPECT_FALSE(plan);
    if (plan) return "";
    EXPECT_EQ(plan.error().code, Code::bad_input);
    const std::uint64_t check = checksum(plan.error().text());
    EXPECT_EQ(over_all(team.all(), check, MPI_MIN), over_all(team.all(), check, MPI_MAX));
    return plan.error().what;
  }
  void remove(std::uint64_t number) { std::erase(numbers, number); }
};

TEST_F(WrongNumbers, ThatAreMissingAreNamed) {
  remove(998);
  remove(37);
  remove(500);
  EXPECT_EQ(error_of(), "global number 37 is on no rank (3 missing in all)");
}

TEST_F(WrongNumbers, ThatComeTwiceAreNamedWithTheirRanks) {
  remove(41);
  const int last = team.ranks() - 1;
  if (team.rank() == 0) numbers.push_back(41);
  if (team.rank() == last) numbers.insert(numbers.begin(), 41);
  EXPECT_EQ(error_of(), last == 0
                            ? "global number 41 is twice on rank 0 (1 duplicates in all)"
                            : "global number 41 is on ranks 0 and " + std::to_string(last) + " (1 duplicates in all)");
}

TEST_F(WrongNumbers, ThatAreOutOfRangeAreNamed) {
  if (team.rank() == team.ranks() - 1) numbers[0] = 1001;
  EXPECT_EQ(error_of(), "global number 1001 at position 0 is not in 1 .. 1000");
}

TEST_F(WrongNumbers, AreAlsoNumbersOfItemsOnWhichRanksDisagree) {
  if (team.ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  EXPECT_EQ(error_of(team.rank() == 0 ? 1001 : 1000), "some ranks say that there are 1000 items, others 1001");
}

TEST_F(WrongNumbers, AreFoundInBlocksThatNobodyCouldHold) {
  EXPECT_EQ(error_of(std::uint64_t{1} << 40),
            "blocks of " +
                std::to_string((std::uint64_t{1} << 40) / index(team.ranks()) +
                               ((std::uint64_t{1} << 40) % index(team.ranks()) != 0 ? 1 : 0)) +
                " items are larger than 2^31 - 1");
}

TEST(Plan, TakesAtMost24BytesAnItem) {
  const Team team = must(Team::of(MPI_COMM_WORLD));
  for (const std::uint64_t run : {1, 32}) {
    const Numbering numbering{200'000, 1, run, -1, false};
    const auto numbers = numbers_of(numbering, team.ranks(), team.rank());
    const Plan plan = must(Plan::make(team, numbers, numbering.items, {{0, 8, 1, 0}, Shared::refused}));
    const std::uint64_t more = 4096;  // for a table of ranks
    EXPECT_LE(plan.report().peak_bytes, 24 * std::max(numbers.size(), plan.block().count) + more);
    EXPECT_GE(plan.report().peak_bytes, plan.report().kept_bytes);
  }
}

}  // namespace
}  // namespace forebay::blocks
