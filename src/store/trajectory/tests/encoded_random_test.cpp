// Random use of encoded fields, with all tiers at once, against a map in memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "store/trajectory/tests/flow.h"

namespace forebay::encoded_random_test {
namespace {

constexpr std::uint64_t kSegment = 16 << 10;
constexpr std::uint64_t kValues = 300;
constexpr std::int64_t kSteps = 600;

struct Stored {
  std::uint64_t version = 0;
  int pins = 0;
};

void use(std::uint64_t seed, std::optional<forebay_codec> codec, int threads) {
  std::mt19937_64 random(seed);
  const Scratch pool, shared("/tmp");
  Flow run(OptionsOf()
               .dram(6 * kSegment)
               .pool(pool.path(), 6 * kSegment)
               .shared(shared.path(), 12 * kSegment)
               .segments(kSegment)
               .encoders(threads),
           kValues, 1e-5, codec);
  std::map<std::int64_t, Stored> model;
  std::vector<std::int64_t> pinned;
  int full = 0;
  std::int64_t next = 0;  // mostly in order, as solvers do it
  for (int round = 0; round < 6000; ++round) {
    const auto any = static_cast<std::int64_t>(random() % kSteps);
    const auto known = model.find(any);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2: {
        const std::int64_t step = random() % 10 == 0 ? any : next++ % kSteps;
        const std::uint64_t version = random();
        const int status = version % 2 == 0 ? run.put(step, version) : run.write(step, version);
        if (model.contains(step)) {
          ASSERT_STATUS(FOREBAY_E_STEP_EXISTS, status);
        } else if (status == FOREBAY_OK) {
          model[step] = {version, 0};
        } else {
          ASSERT_STATUS(FOREBAY_E_NO_SPACE, status);
          ++full;
          for (auto at = model.begin(); at != model.end();) {
            const bool goes = at->second.pins == 0 && random() % 3 != 0;
            if (goes) {
              ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, at->first));
            }
            at = goes ? model.erase(at) : std::next(at);
          }
        }
        break;
      }
      case 3:
        if (known == model.end()) {
          ASSERT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_drop(run, any));
        } else if (known->second.pins > 0) {
          ASSERT_STATUS(FOREBAY_E_PINNED, forebay_trajectory_drop(run, any));
        } else if (random() % 4 == 0) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, any));
          model.erase(known);
        }
        break;
      case 4:
        if (known != model.end() && pinned.size() < 2) {
          const void* memory = nullptr;
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_get(run, any, 0, &memory));
          ++known->second.pins;
          pinned.push_back(any);
        } else if (!pinned.empty()) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, pinned.back()));
          --model[pinned.back()].pins;
          pinned.pop_back();
        }
        break;
      case 5:
        if (random() % 30 == 0 && !model.empty()) {
          // A piece of a sweep.
          auto at = model.rbegin();
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, at->first));
          for (int i = 0; i < 100 && at != model.rend(); ++i, ++at) {
            ASSERT_TRUE(run.whole(at->first, at->second.version)) << "round " << round;
            if (random() % 10 == 0) {
              const auto aside = std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
              ASSERT_TRUE(run.whole(aside->first, aside->second.version)) << "round " << round;
              const int status = forebay_trajectory_move(run, aside->first, static_cast<int>(random() % 3));
              const bool refused = status == FOREBAY_E_NO_SPACE || (status == FOREBAY_E_PINNED && !pinned.empty());
              ASSERT_TRUE(status == FOREBAY_OK || refused) << forebay_error_get_text();
            }
          }
        }
        if (random() % 300 == 0 && pinned.empty()) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
          model.clear();
        }
        break;
      default:
        if (known != model.end()) {
          ASSERT_TRUE(run.whole(any, known->second.version)) << "round " << round;
        }
    }
    ASSERT_EQ(run.count(), model.size());
  }
  const forebay_encoding_info info = run.encoding();
  EXPECT_LE(info.achieved_error, 1e-5);
  std::printf("codec %d, %d threads: %d times full, %zu steps at the end\n", codec ? *codec : -1, threads, full,
              model.size());
  for (const auto& [step, stored] : model) ASSERT_TRUE(run.whole(step, stored.version));
}

TEST(Random, UseOfEncodedFieldsGivesBackWhatWasStoredWithinTheError) {
  const char* given = std::getenv("FOREBAY_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("FOREBAY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (const std::optional<forebay_codec> codec :
       {std::optional(FOREBAY_CODEC_DIFFERENCE), {}, std::optional(FOREBAY_CODEC_TRUNCATION)}) {
    for (const int threads : {0, 2}) {
      use(seed, codec, threads);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace forebay::encoded_random_test
