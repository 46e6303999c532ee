// Random use of all tiers at once against a map in memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "store/trajectory/tests/api.h"

namespace forebay::random_test {
namespace {

constexpr std::uint64_t kSegment = 16 << 10;

TEST(Random, UseOfAllTiersGivesBackWhatWasStored) {
  const char* given = std::getenv("FOREBAY_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("FOREBAY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const Scratch pool, shared("/tmp");
  States run(OptionsOf()
                 .dram(6 * kSegment)
                 .pool(pool.path(), 6 * kSegment)
                 .shared(shared.path(), 40 * kSegment)
                 .segments(kSegment),
             100);
  std::map<std::int64_t, int> pins;  // of every stored step
  std::vector<std::int64_t> pinned;
  int full = 0;
  for (int round = 0; round < 30000; ++round) {
    const auto step = static_cast<std::int64_t>(random() % 1200);
    const auto known = pins.find(step);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2: {
        const int status = random() % 2 == 0 ? run.put(step) : run.write(step);
        if (known != pins.end()) {
          ASSERT_STATUS(FOREBAY_E_STEP_EXISTS, status);
        } else if (status == FOREBAY_OK) {
          pins[step] = 0;
        } else {
          ASSERT_STATUS(FOREBAY_E_NO_SPACE, status);
          ++full;
          for (int i = 0; i < 400; ++i) {
            const auto gone = static_cast<std::int64_t>(random() % 1200);
            if (const auto at = pins.find(gone); at != pins.end() && at->second == 0) {
              ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, gone));
              pins.erase(at);
            }
          }
        }
        break;
      }
      case 3:
        if (known == pins.end()) {
          ASSERT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_drop(run, step));
        } else if (known->second > 0) {
          ASSERT_STATUS(FOREBAY_E_PINNED, forebay_trajectory_drop(run, step));
        } else {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
          pins.erase(known);
        }
        break;
      case 4:
        if (known != pins.end() && pinned.size() < 2) {
          const void* memory = nullptr;
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_get(run, step, 0, &memory));
          ++known->second;
          pinned.push_back(step);
        }
        break;
      case 5:
        if (!pinned.empty()) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, pinned.back()));
          --pins[pinned.back()];
          pinned.pop_back();
        }
        break;
      case 6:
        if (random() % 50 == 0 && !pins.empty()) {
          // A piece of a sweep.
          auto at = pins.rbegin();
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, at->first));
          for (int i = 0; i < 200 && at != pins.rend(); ++i, ++at) ASSERT_TRUE(run.whole(at->first));
        }
        if (random() % 10 == 0 && known != pins.end()) {
          const int status = forebay_trajectory_move(run, step, static_cast<int>(random() % 3));
          const bool refused = status == FOREBAY_E_NO_SPACE || (status == FOREBAY_E_PINNED && !pinned.empty());
          ASSERT_TRUE(status == FOREBAY_OK || refused) << forebay_error_get_text();
        }
        if (random() % 2000 == 0 && pinned.empty()) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
          pins.clear();
        }
        break;
      default:
        if (known != pins.end()) {
          ASSERT_TRUE(run.whole(step)) << "round " << round;
        }
    }
    ASSERT_EQ(run.count(), pins.size());
  }
  std::printf("%d times full, %zu steps at the end\n", full, pins.size());
  for (const auto& [step, count] : pins) ASSERT_TRUE(run.whole(step));
}

}  // namespace
}  // namespace forebay::random_test
