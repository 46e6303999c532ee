#include "run/core/restartable.h"

#include <gtest/gtest.h>

namespace forebay::core {
namespace {

NamesOfRanks on_two_ranks(const Names& names) {
  return {{0, names}, {1, names}};
}

std::optional<Spread> start_of(const Names& names) {
  return spread_of(on_two_ranks(names));
}

Required after(const std::optional<Spread>& start, const std::vector<Names>& whole_times) {
  Written written;
  int time = 0;
  for (const Names& names : whole_times) written.add(std::to_string(++time), on_two_ranks(names));
  return Required::of(start, written);
}

const std::string properties = "uniform/functionObjects/functionObjectProperties";
const Names state{"U", "p", "phi", "uniform/time", properties}, poor{"vorticity"}, written_objects{"U", "p"};

TEST(Restartable, NeedsWhatTheStartTimeHadAndTheRunWrites) {
  const Required required = after(start_of({"U", "p", "nuTilda"}), {state, poor});
  EXPECT_EQ(required.on_every_rank, (Names{"U", "p"}));
  EXPECT_TRUE(is_restartable(on_two_ranks(state), required));
  EXPECT_TRUE(is_restartable(on_two_ranks(written_objects), required));
  EXPECT_FALSE(is_restartable(on_two_ranks(poor), required));
}

TEST(Restartable, NeedsAllThatTheStartTimeHadBeforeTheRunHasWrittenAState) {
  const Spread start = spread_of(on_two_ranks({"U", "p", "nuTilda"}));
  const Names objects{"p", "uniform/time"}, all{"U", "p", "nuTilda", "uniform/time"};
  EXPECT_EQ(after(start, {}), (Required{start.on_every_rank, start.on_some_rank}));
  for (const Names& names : {poor, objects}) {
    const Required required = after(start, {names, names});
    EXPECT_EQ(required.on_every_rank, start.on_every_rank);
    EXPECT_FALSE(is_restartable(on_two_ranks(names), required));
    EXPECT_TRUE(is_restartable(on_two_ranks(all), required));
  }
  EXPECT_EQ(after(start, {objects, state}).on_every_rank, (Names{"U", "p"}));
}

TEST(Restartable, ARunThatMakesNoTimeFilesWritesStatesOnly) {
  EXPECT_EQ(after(start_of({"U", "p", "nuTilda"}), {written_objects}).on_every_rank, (Names{"U", "p"}));
}

TEST(Restartable, WithoutAStartTimeNeedsWhatTheTwoRichestTimesShare) {
  EXPECT_FALSE(after({}, {}).is_known());
  EXPECT_EQ(after({}, {state}).on_every_rank, state);
  const Required required = after({}, {poor, state, poor, {"U", "p", "phi"}, poor});
  EXPECT_EQ(required.on_every_rank, (Names{"U", "p", "phi"}));
  EXPECT_TRUE(is_restartable(on_two_ranks(state), required));
  EXPECT_FALSE(is_restartable(on_two_ranks(poor), required));
}

TEST(Restartable, OneTimeThatIsLookedAtTwiceIsNoTwo) {
  Written written;
  written.add("1", on_two_ranks(poor));
  written.add("1", on_two_ranks({"vorticity", "Q"}));
  EXPECT_EQ(Required::of({}, written).on_every_rank, (Names{"Q", "vorticity"}));
}

TEST(Restartable, IsNoTimeThatOneRankLacksAFileOf) {
  const Required required = after(start_of({"U", "p"}), {state});
  NamesOfRanks names = on_two_ranks(state);
  names[1].erase("p");
  EXPECT_FALSE(is_restartable(names, required));
  EXPECT_EQ(lacks(names, required).on_rank, (NamesOfRanks{{1, {"p"}}}));
  EXPECT_TRUE(lacks(names, required).on_all_ranks.empty());
}

TEST(Restartable, ATimeThatWasCutOnOneRankTeachesTheOthersNothingLess) {
  Written written;
  NamesOfRanks torn = on_two_ranks(state);
  torn[1] = {"U"};
  written.add("1", torn);
  EXPECT_FALSE(is_restartable(torn, Required::of(start_of({"U", "p"}), written)));
}

TEST(Restartable, CloudsAreOnlyWhereParticlesAre) {
  const std::string cloud = "lagrangian/cloud/positions";
  NamesOfRanks with_cloud = on_two_ranks(state);
  with_cloud[1].insert(cloud);
  Written written;
  written.add("1", with_cloud);
  const Required required = Required::of(spread_of(on_two_ranks({"U", "p", cloud})), written);
  EXPECT_TRUE(is_restartable(with_cloud, required));
  EXPECT_FALSE(is_restartable(on_two_ranks(state), required));
  EXPECT_EQ(lacks(on_two_ranks(state), required).on_all_ranks, (Names{cloud}));
}

TEST(Restartable, ParticlesThatGoToAnotherRankMakeNoRestartPointOfTheTimeBefore) {
  const std::string cloud = "lagrangian/cloud/positions";
  NamesOfRanks older = on_two_ranks(state), newer = on_two_ranks(state);
  older[0].insert(cloud);
  newer[1].insert(cloud);
  EXPECT_TRUE(lacks(newer, older).nothing());
  EXPECT_EQ(lacks(on_two_ranks(state), older).on_rank, (NamesOfRanks{{0, {cloud}}}));
}

TEST(Restartable, ATimeWithoutRanksIsNot) {
  EXPECT_FALSE(is_restartable({}, after(start_of({"U"}), {state})));
}

TEST(Restartable, CompressedFilesHaveTheNamesOfOthers) {
  EXPECT_EQ(plain_name("U.gz"), "U");
  EXPECT_EQ(plain_name("U.gzip"), "U.gzip");
}

}  // namespace
}  // namespace forebay::core
