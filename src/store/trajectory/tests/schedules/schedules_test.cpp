// The writer, the preparer and the spiller in chosen orders: a store over three tiers keeps what was put into it
// whoever goes first, and nobody waits for ever.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <random>

#include "store/trajectory/tests/api.h"
#include "store/trajectory/tests/schedules/scheduled.h"

namespace forebay::schedules_test {
namespace {

using scheduled::Schedule;

constexpr std::uint64_t kSegment = 16 << 10;
constexpr std::uint64_t kValues = 1000;  // two states in a segment

// The operations do not depend on the order in which threads go on.
void use(std::uint64_t seed, int operations) {
  std::mt19937_64 random(seed);
  const Scratch pool, shared("/tmp");
  States run(OptionsOf()
                 .dram(3 * kSegment)
                 .pool(pool.path(), 3 * kSegment)
                 .shared(shared.path(), 5 * kSegment)
                 .segments(kSegment),
             kValues);
  std::uint64_t capacity = 0;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_get_capacity(run, &capacity));
  std::map<std::int64_t, bool> stored;
  for (int i = 0; i < operations; ++i) {
    const auto step = static_cast<std::int64_t>(random() % 30);
    const bool known = stored.contains(step);
    switch (random() % 8) {
      case 0:
        if (known) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
          stored.erase(step);
        }
        break;
      case 1:
        if (known) {
          const int status = forebay_trajectory_move(run, step, static_cast<int>(random() % 3));
          ASSERT_TRUE(status == FOREBAY_OK || status == FOREBAY_E_NO_SPACE) << forebay_error_get_text();
        }
        break;
      case 2:
        if (!stored.empty() && random() % 4 == 0) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, stored.rbegin()->first));
          for (auto at = stored.rbegin(); at != stored.rend(); ++at) ASSERT_TRUE(run.whole(at->first));
        }
        break;
      case 3:
        if (random() % 20 == 0) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
          stored.clear();
        }
        break;
      case 4:
        if (known) {
          ASSERT_TRUE(run.whole(step));
        }
        break;
      default:
        if (known) break;
        if (const int status = random() % 2 == 0 ? run.put(step) : run.write(step); status == FOREBAY_OK) {
          stored[step] = true;
        } else {
          ASSERT_STATUS(FOREBAY_E_NO_SPACE, status);
          ASSERT_GE(stored.size(), capacity);
        }
    }
    ASSERT_EQ(run.count(), stored.size());
  }
  for (const auto& [step, is] : stored) ASSERT_TRUE(run.whole(step));
}

TEST(Schedules, NeverChangeWhatIsStored) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(1000 + seed);
    Schedule::the().begin([&](std::size_t threads) { return random() % threads; });
    ASSERT_NO_FATAL_FAILURE(use(seed, 150));
  }
}

// All orders that differ at two moments at most from the one where the first thread that can goes on: the last choice
// is the first to be another.
class AllOrders {
 public:
  Schedule::Choose choose() {
    at_ = 0;
    return [this](std::size_t threads) {
      if (at_ == chosen_.size()) chosen_.push_back({0, threads});
      return chosen_[at_++].which;
    };
  }
  // False where there is no other.
  bool next() {
    while (!chosen_.empty() && !chosen_.back().has_another(different_ < kMoments)) {
      different_ -= chosen_.back().which != 0 ? 1 : 0;
      chosen_.pop_back();
    }
    if (chosen_.empty()) return false;
    different_ += chosen_.back().which++ == 0 ? 1 : 0;
    return true;
  }

 private:
  static constexpr int kMoments = 2;
  struct Choice {
    std::size_t which, threads;
    bool has_another(bool may_begin) const { return which + 1 < threads && (which != 0 || may_begin); }
  };
  std::vector<Choice> chosen_;
  std::size_t at_ = 0;
  int different_ = 0;
};

// The writer needs a third segment where the first tier has two, while the spiller is to begin with the first.
TEST(Schedules, AllOrdersOfAShortRunLeadToTheSame) {
  AllOrders orders;
  int tried = 0;
  do {
    Schedule::the().begin(orders.choose());
    const Scratch shared("/tmp");
    States run(OptionsOf().dram(2 * kSegment).shared(shared.path(), 4 * kSegment).segments(kSegment), kValues);
    for (std::int64_t step = 0; step < 6; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    ASSERT_TRUE(run.whole(0));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, 2));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 0, 0));
    for (const std::int64_t step : {5, 4, 3, 1, 0}) ASSERT_TRUE(run.whole(step));
    ++tried;
  } while (orders.next());
  std::printf("%d orders\n", tried);
  EXPECT_GT(tried, 1000);
}

}  // namespace
}  // namespace forebay::schedules_test
