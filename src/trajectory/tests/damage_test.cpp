// Opens stores with random damage, many times: never a crash, a hang or a wrong state.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "trajectory/tests/api.h"

namespace forebay {
namespace {

constexpr std::uint64_t kSegment = 32 << 10;

std::string slurp(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void spill_out(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(Damage, OfAnyKindIsFoundOrHarmless) {
  const Scratch pool, below;
  OptionsOf options;
  options.pool(pool.path(), 3 * kSegment).shared(below.path(), 20 * kSegment).segments(kSegment).keep().process_only();
  options.checksum(1);
  {
    States run(options, 200);
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& directory : {pool.path(), below.path()}) {
    for (const char* name : {"store", "segments"}) {
      const std::string path = directory + "/trajectory-0/" + name;
      files.emplace_back(path, slurp(path));
    }
  }
  const char* given = std::getenv("FOREBAY_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("FOREBAY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  int opened = 0, refused = 0, incomplete = 0;
  for (int round = 0; round < 400; ++round) {
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
      EXPECT_TRUE(status == FOREBAY_E_DAMAGED || status == FOREBAY_E_VERSION) << forebay_last_error();
      continue;
    }
    ++opened;
    std::uint64_t count = 0;
    forebay_trajectory_count(t, &count);
    EXPECT_LE(count, 100u);
    for (std::int64_t step = 0; step < 100; ++step) {
      const double* u = nullptr;
      const int got = forebay_trajectory_get(t, step, 0, reinterpret_cast<const void**>(&u));
      if (got != FOREBAY_OK) {
        ++incomplete;
        continue;
      }
      for (std::uint64_t i = 0; i < 200; ++i) {
        ASSERT_EQ(u[i], States::value(step, i)) << "round " << round << ", step " << step;
      }
      forebay_trajectory_release(t, step);
    }
    // A file that was cut off may end where its last segment ends: then nothing tells that there was another.
    if (count < 100 && bytes.size() >= whole.size()) {
      EXPECT_STRNE(forebay_trajectory_recovery(t), "") << "round " << round << ": " << count << " steps with " << path
                                                       << " of " << bytes.size() << " bytes, not " << whole.size();
    }
    forebay_trajectory_close(t);
  }
  std::printf("%d opened, %d refused, %d steps lost\n", opened, refused, incomplete);
  EXPECT_GT(opened, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(incomplete, 0);
}

}  // namespace
}  // namespace forebay
