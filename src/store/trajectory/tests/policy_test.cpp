// The spiller's decisions as a table, and the log's invariant: each segment in one place.
#include "store/trajectory/policy.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace forebay::trajectory {
namespace {

using Kind = Job::Kind;

// Tiers as limit, room, oldest; what is not named is not wanted.
Situation of(std::vector<TierSituation> tiers) {
  Situation situation;
  situation.tiers = std::move(tiers);
  return situation;
}

TEST(Policy, ATable) {
  const auto waiting = [](Situation situation) { return situation.writer_waits = true, situation; };
  const auto sweeping = [](Situation situation) { return situation.reversing = true, situation; };
  const auto wanting = [](Situation situation) { return situation.wanted = 5, situation; };
  const auto asked = [](Situation situation) { return situation.request = {3, 1}, situation; };
  const auto ahead = [](Situation situation) {
    return situation.ahead = 8, situation.ahead_has_buffer = true, situation;
  };
  const auto read_only = [](Situation situation) { return situation.read_only = true, situation; };
  const Situation calm = of({{8, 4, 1}, {8, 8, kNone}}), low = of({{8, 1, 1}, {8, 4, 2}}),
                  full = of({{8, 0, 1}, {8, 0, 2}});
  struct Row {
    const char* says;
    Situation situation;
    Job job;
  };
  const Row rows[] = {
      {"nothing to do", calm, {}},
      {"the oldest leaves before the tier is full", low, {Kind::move, 1, 1}},
      {"where two are free nothing moves", of({{8, 2, 1}, {8, 4, 2}}), {}},
      {"a reader comes first", wanting(asked(low)), {Kind::fetch, 5, kNone}},
      {"then who asks for a move", asked(low), {Kind::move_for_request, 3, 1}},
      {"nothing moves when all is full", full, {}},
      {"nor into a tier that fails", of({{8, 0, 1}, {8, 4, 2, true}}), {}},
      {"the lowest makes room first", of({{8, 0, 1}, {8, 0, 2}, {8, 3, 4}}), {Kind::move, 2, 2}},
      {"a lower tier keeps what it has while the first has room", of({{8, 4, 1}, {8, 0, 2}, {8, 3, 4}}), {}},
      {"a tier of one segment gives it up for a writer", waiting(of({{1, 0, 1}, {8, 3, 2}})), {Kind::move, 1, 1}},
      {"and not before", of({{1, 0, 1}, {8, 3, 2}}), {}},
      {"what cannot leave stays", of({{8, 0, kNone}, {8, 3, 2}}), {}},
      {"a sweep moves nothing down", sweeping(low), {}},
      {"but for a writer", sweeping(waiting(low)), {Kind::move, 1, 1}},
      {"a sweep fetches ahead", sweeping(ahead(calm)), {Kind::fetch_ahead, 8, kNone}},
      {"nobody else does", ahead(calm), {}},
      {"a reader of others' states moves nothing", read_only(waiting(low)), {}},
      {"but fetches", sweeping(ahead(read_only(low))), {Kind::fetch_ahead, 8, kNone}},
  };
  for (const Row& row : rows) EXPECT_EQ(next_job(row.situation), row.job) << row.says;
}

// Four segments of generations 1 to 4: the first two on a streamed tier below, the others above.
TEST(Situation, FindsWhatMayMoveAndWhatIsWanted) {
  Log log;
  log.begin(2);
  log.tier(1).streamed = true;
  for (std::uint32_t tier = 0; tier < 2; ++tier) {
    log.tier(tier).limit = 4;
    for (int i = 0; i < 4; ++i) log.tier(tier).add();
  }
  for (std::uint64_t generation = 1; generation <= 4; ++generation) {
    const std::uint32_t tier = generation <= 2 ? 1 : 0;
    Segment& made = log[log.add(generation, {tier, log.tier(tier).take()})];
    made.sealed = true;
    made.live = 1;
  }
  ReadCache cache;
  Wishes wishes;
  const auto situation = [&] { return situation_of(log, cache, wishes, {false, true}, false); };
  EXPECT_EQ(situation().tiers[0].oldest, 2u);
  EXPECT_EQ(situation().tiers[0].room, 2u);
  EXPECT_TRUE(situation().tiers[1].failing);
  EXPECT_EQ(situation().ahead, kNone) << "nobody sweeps";
  log[2].holds = 1;
  EXPECT_EQ(situation().tiers[0].oldest, 3u) << "what is held stays";
  log[3].moving = true;
  EXPECT_EQ(situation().tiers[0].oldest, kNone);

  wishes.segment = 2;
  EXPECT_EQ(situation().wanted, kNone) << "it is at hand";
  wishes.segment = 0;
  EXPECT_EQ(situation().wanted, 0u);
  wishes.not_fetched = Failure{FOREBAY_E_IO, "no"};
  EXPECT_EQ(situation().wanted, kNone) << "nobody tries again by himself";
  wishes = {};

  wishes.move.segment = 1;
  wishes.move.tier = 0;
  EXPECT_EQ(situation().request.segment, 1u);
  wishes.move.outcome = Done();
  EXPECT_EQ(situation().request.segment, kNone);
  wishes = {};

  wishes.reversing = true;
  wishes.cursor = 4;
  EXPECT_EQ(situation().ahead, 1u) << "the next below that has no memory";
  cache.put(0, 1);
  log[1].buffer = 0;
  EXPECT_TRUE(log.at_hand(1));
  EXPECT_EQ(situation().ahead, 0u);
  cache.put(1, 0);
  log[0].buffer = 1;
  EXPECT_EQ(situation().ahead, kNone) << "two are ready";
  wishes.cursor = 2;
  EXPECT_TRUE(situation().reversing);
  wishes.segment = 0;
  EXPECT_FALSE(situation().reversing) << "whoever waits comes first";
}

TEST(Log, HasEachSegmentInOnePlace) {
  std::mt19937_64 random(1);
  Log log;
  log.begin(3);
  for (std::uint32_t tier = 0; tier < 3; ++tier) {
    log.tier(tier).limit = 5;
    for (int i = 0; i < 5; ++i) log.tier(tier).add();
  }
  std::uint64_t generation = 1;
  std::set<std::uint32_t> known;
  for (int round = 0; round < 20000; ++round) {
    const auto tier = static_cast<std::uint32_t>(random() % 3);
    Slots& slots = log.tier(tier);
    const auto some =
        known.empty() ? known.end() : std::next(known.begin(), static_cast<long>(random() % known.size()));
    switch (random() % 4) {
      case 0:
        if (!slots.free.empty()) known.insert(log.add(generation++, {tier, slots.take()}));
        break;
      case 1:
        if (some != known.end() && !slots.free.empty()) log.relocate(*some, {tier, slots.take()});
        break;
      case 2:
        if (some != known.end()) {
          log.erase(*some);
          known.erase(some);
        }
        break;
      default:
        if (random() % 1000 == 0) {
          log.clear();
          known.clear();
        }
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> places;
    for (const std::uint32_t number : known) {
      const Segment& segment = log[number];
      ASSERT_TRUE(segment.used());
      ASSERT_TRUE(places.emplace(segment.place.tier, segment.place.slot).second);
      ASSERT_EQ(log.tier(segment.place.tier).resident.at(segment.generation), number);
    }
    for (std::uint32_t t = 0; t < 3; ++t) {
      for (const std::uint32_t slot : log.tier(t).free) ASSERT_TRUE(places.emplace(t, slot).second);
    }
    ASSERT_EQ(places.size(), 15u) << "and each slot is free or holds one";
  }
}

TEST(Log, NamesTheSegmentWithTheFewestStates) {
  Log log;
  log.begin(1);
  for (int i = 0; i < 5; ++i) log.tier(0).add();
  for (const std::uint32_t live : {8u, 5u, 0u, 3u, 7u}) {
    Segment& made = log[log.add(live + 1, {0, log.tier(0).take()})];
    made.live = live;
    made.sealed = true;
  }
  EXPECT_EQ(log.sparsest(8), 3u);
  log[3].holds = 1;
  EXPECT_EQ(log.sparsest(8), 1u);
  EXPECT_EQ(log.sparsest(5), kNone);
}

}  // namespace
}  // namespace forebay::trajectory
