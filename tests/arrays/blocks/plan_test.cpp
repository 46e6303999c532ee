#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>

#include <cstdlib>

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

// Python and Fortran have no numbers without a sign.
TEST_F(WrongNumbers, ThatAreNegativeAreNamedAsTheProgramKnowsThem) {
  numbers[0] = static_cast<std::uint64_t>(-3);
  EXPECT_EQ(error_of(), "global number -3 at position 0 is not in 1 .. 1000");
  EXPECT_EQ(error_of(static_cast<std::uint64_t>(-5)), "the number of items cannot be -5");
  if (team.ranks() == 1) return;
  EXPECT_EQ(error_of(static_cast<std::uint64_t>(team.rank() == 0 ? -5 : 1000)),
            "some ranks say that the number of items is 1000, others -5");
}

TEST_F(WrongNumbers, AreAlsoNumbersOfItemsOnWhichRanksDisagree) {
  if (team.ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  EXPECT_EQ(error_of(team.rank() == 0 ? 1001 : 1000), "some ranks say that the number of items is 1000, others 1001");
}

TEST_F(WrongNumbers, AreFoundInBlocksThatNobodyCouldHold) {
  EXPECT_EQ(error_of(std::uint64_t{1} << 40),
            "blocks of " +
                std::to_string((std::uint64_t{1} << 40) / index(team.ranks()) +
                               ((std::uint64_t{1} << 40) % index(team.ranks()) != 0 ? 1 : 0)) +
                " items are larger than 2^31 - 1");
}

// Of memory that this process has taken: as counted by the kernel, at most since the last look.
class Taken {
 public:
  Taken() : before_(now("VmRSS:")), known_(before_ > 0 && reset()) {}
  bool known() const { return known_; }
  std::uint64_t most() const { return now("VmHWM:") - before_; }

 private:
  static bool reset() {
    const auto file = open_file("/proc/self/clear_refs", O_WRONLY);
    return file && write_all(file->get(), std::string_view("5"), "clear_refs");
  }
  static std::uint64_t now(std::string_view name) {
    const std::string status = read_file("/proc/self/status").value_or("");
    for (const std::string_view line : split(status, '\n')) {
      if (line.starts_with(name)) return std::strtoull(line.data() + name.size(), nullptr, 10) << 10;
    }
    return 0;
  }
  std::uint64_t before_;
  bool known_;
};

TEST(Plan, TakesAtMost24BytesAnItem) {
  const Team team = must(Team::of(MPI_COMM_WORLD));
  for (const bool with_ghosts : {false, true}) {
    for (const std::uint64_t run : {1, 32}) {
      SCOPED_TRACE(testing::Message() << "runs of " << run << (with_ghosts ? ", some on two ranks" : ""));
      const Numbering numbering{200'000, 1, run, -1, with_ghosts};
      const auto numbers = numbers_of(numbering, team.ranks(), team.rank());
      const Shared shared = with_ghosts ? Shared::once : Shared::refused;
      const Plan plan = must(Plan::make(team, numbers, numbering.items, {{0, 8, 1, 0}, shared}));
      const std::uint64_t more = 4096;  // for a table of ranks
      EXPECT_LE(plan.report().peak_bytes, 24 * std::max(numbers.size(), plan.block().count) + more);
      EXPECT_GE(plan.report().peak_bytes, plan.report().kept_bytes);
    }
  }
}

TEST(Plan, TakesNoMoreMemoryThanItTells) {
#ifdef FOREBAY_SANITIZED
  GTEST_SKIP() << "sanitizers take memory, too";
#endif
  const Team team = must(Team::of(MPI_COMM_WORLD));
  if (team.ranks() > 4) GTEST_SKIP() << "too few items for each rank to measure them";
  ::mallopt(M_MMAP_THRESHOLD, 1 << 17);  // what is freed is given back
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  constexpr std::uint64_t kTakenByMpi = std::uint64_t{3} << 20;
  for (const bool with_ghosts : {false, true}) {
    for (const std::uint64_t run : {1, 32}) {
      SCOPED_TRACE(testing::Message() << "runs of " << run << (with_ghosts ? ", some on two ranks" : ""));
      const Numbering numbering{4'000'000, 1, run, -1, with_ghosts};
      const auto numbers = numbers_of(numbering, team.ranks(), team.rank());
      ::malloc_trim(0);  // of what earlier tests have freed
      MPI_Barrier(team.all());
      const Taken taken;
      const Shared shared = with_ghosts ? Shared::once : Shared::refused;
      const Plan plan = must(Plan::make(team, numbers, numbering.items, {{0, 8, 1, 0}, shared}));
      const std::uint64_t most = taken.most();
      if (!taken.known()) GTEST_SKIP() << "this kernel does not tell";
      EXPECT_LE(most, plan.report().peak_bytes + kTakenByMpi);
      EXPECT_GE(most + kTakenByMpi, plan.report().peak_bytes);
    }
  }
  ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
}

}  // namespace
}  // namespace forebay::blocks
