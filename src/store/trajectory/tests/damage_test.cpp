// Opens stores with random damage, many times: never a crash, a hang or a wrong state.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>

#include "store/trajectory/tests/flow.h"

namespace forebay::damage_test {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void spill_out(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// The content of the test's stores: 100 states, and whether one that was read is right.
struct Content {
  std::uint64_t segment_bytes;
  int rounds;
  std::function<void(const OptionsOf&)> fill;
  std::function<bool(const double* u, std::int64_t step)> is_right;
};

struct Counts {
  int opened = 0, refused = 0, incomplete = 0;
};

void damage_again_and_again(const Content& content, Counts& counts) {
  const Scratch pool, below;
  OptionsOf options;
  options.pool(pool.path(), 3 * content.segment_bytes).shared(below.path(), 40 * content.segment_bytes);
  options.segments(content.segment_bytes).keep().process_only().checksum(true);
  content.fill(options);
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& directory : {pool.path(), below.path()}) {
    for (const char* name : {"store", "segments"}) {
      const std::string path = directory + "/trajectory-0/" + name;
      files.emplace_back(path, slurp(path));
      ASSERT_GT(files.back().second.size(), 0u) << path;
    }
  }
  const char* given = std::getenv("FOREBAY_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("FOREBAY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  auto& [opened, refused, incomplete] = counts;
  for (int round = 0; round < content.rounds; ++round) {
    for (const auto& [path, bytes] : files) spill_out(path, bytes);
    const auto& [path, whole] = files[random() % 10 == 0 ? 2 * (random() % 2) : 1 + 2 * (random() % 2)];
    std::string bytes = whole;
    switch (random() % 4) {
      case 0:
        bytes.resize(random() % bytes.size());
        break;
      case 1:
        bytes.resize(bytes.size() + random() % 100000, 'x');
        break;
      default:
        for (std::uint64_t i = 0; i <= random() % 50; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    spill_out(path, bytes);
    forebay_trajectory* t = nullptr;
    const int status = forebay_trajectory_open(options.get(), &t);
    if (status != FOREBAY_OK) {
      ++refused;
      EXPECT_TRUE(status == FOREBAY_E_DAMAGED || status == FOREBAY_E_VERSION) << forebay_error_get_text();
      continue;
    }
    ++opened;
    std::uint64_t count = 0;
    forebay_trajectory_count_steps(t, &count);
    EXPECT_LE(count, 100u);
    (void)forebay_trajectory_reverse(t, 99);
    for (std::int64_t step = 99; step >= 0; --step) {
      const double* u = nullptr;
      const int got = get_values(t, step, u);
      if (got != FOREBAY_OK) {
        ++incomplete;
        continue;
      }
      ASSERT_TRUE(content.is_right(u, step)) << "round " << round << ", step " << step;
      forebay_trajectory_release(t, step);
    }
    if (count < 100) {
      EXPECT_STRNE(forebay_trajectory_get_recovery(t), "")
          << "round " << round << ": " << count << " steps with " << path << " of " << bytes.size() << " bytes, not "
          << whole.size();
    }
    forebay_trajectory_close(t);
  }
  std::printf("%d opened, %d refused, %d steps lost\n", opened, refused, incomplete);
}

TEST(Damage, OfAnyKindIsFoundOrHarmless) {
  constexpr std::uint64_t kValues = 200;
  const auto fill = [](const OptionsOf& options) {
    States run(options, kValues);
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  };
  const auto is_right = [](const double* u, std::int64_t step) {
    for (std::uint64_t i = 0; i < kValues; ++i) {
      if (u[i] != States::value(step, i)) return false;
    }
    return true;
  };
  Counts counts;
  damage_again_and_again({32 << 10, 400, fill, is_right}, counts);
  EXPECT_GT(counts.opened, 0);
  EXPECT_GT(counts.incomplete, 0);
}

// Differences are read by way of other steps, of which the store compares no checksum.
TEST(Damage, OfEncodedFieldsIsFoundOrHarmless) {
  constexpr std::uint64_t kValues = 1000;
  constexpr double kAccepted = 1e-9;
  Counts counts;
  for (const forebay_codec codec : {FOREBAY_CODEC_DIFFERENCE, FOREBAY_CODEC_TRUNCATION}) {
    const auto fill = [codec](const OptionsOf& options) {
      Flow run(options, kValues, kAccepted, codec);
      for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    };
    const auto is_right = [](const double* u, std::int64_t step) {
      const std::vector<double> exact = Flow::state(kValues, step, 0);
      return codec::test::error_between(std::span<const double>(exact), std::span(u, kValues)) <= kAccepted * 1.001;
    };
    damage_again_and_again({16 << 10, 40, fill, is_right}, counts);
  }
  EXPECT_GT(counts.opened, 0);
  EXPECT_GT(counts.incomplete, 0);
}

}  // namespace
}  // namespace forebay::damage_test
