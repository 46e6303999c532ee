// Fields with an accepted error.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include "store/segment/format.h"
#include "store/trajectory/tests/flow.h"

namespace forebay::encoded_test {
namespace {

constexpr std::uint64_t kSegment = 64 << 10;
constexpr std::uint64_t kValues = 2000;
constexpr std::optional<forebay_codec> kCodecs[] = {{},
                                                    FOREBAY_CODEC_RAW,
                                                    FOREBAY_CODEC_FLOAT32,
                                                    FOREBAY_CODEC_TRUNCATION,
                                                    FOREBAY_CODEC_ZFP,
                                                    FOREBAY_CODEC_DIFFERENCE};

TEST(Encoded, StatesComeBackWithinTheErrorInEveryOrder) {
  for (const auto codec : kCodecs) {
    if (codec == FOREBAY_CODEC_ZFP && !forebay::codec::is_built(forebay::codec::Codec::zfp)) continue;
    Flow run(OptionsOf().dram(80 * kSegment).segments(kSegment), kValues, 1e-5, codec);
    for (int step = 0; step < 200; ++step) ASSERT_STATUS(FOREBAY_OK, step % 2 == 0 ? run.put(step) : run.write(step));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 199));
    for (int step = 199; step >= 0; --step)
      ASSERT_TRUE(run.whole(step)) << "codec " << (codec ? static_cast<int>(*codec) : -1);
    for (int step = 0; step < 200; ++step)
      ASSERT_TRUE(run.whole(step)) << "codec " << (codec ? static_cast<int>(*codec) : -1);
    std::mt19937 random(3);
    for (int i = 0; i < 200; ++i)
      ASSERT_TRUE(run.whole(static_cast<int>(random() % 200))) << "codec " << (codec ? static_cast<int>(*codec) : -1);
    const forebay_encoding_info info = run.encoding();
    EXPECT_LE(info.achieved_error, 1e-5);
    EXPECT_EQ(info.states, 200u);
    EXPECT_EQ(info.raw_bytes, 200 * kValues * sizeof(double));
    if (codec) {
      EXPECT_EQ(info.codec, *codec);
    }
    if (codec != FOREBAY_CODEC_RAW) {
      EXPECT_LT(2 * info.stored_bytes, info.raw_bytes + info.states * 256);
    }
  }
}

TEST(Encoded, StatesOfAnySizeComeBack) {
  for (const std::uint64_t values : {1u, 7u, 64u, 70000u}) {
    Flow run(OptionsOf().dram(64 * kMiB), values, 1e-4);
    for (int step = 0; step < 50; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    for (int step = 49; step >= 0; --step) ASSERT_TRUE(run.whole(step)) << values << " values";
  }
}

TEST(Encoded, BitsDoNotDependOnTheThreads) {
  std::vector<std::vector<double>> first;
  for (const int threads : {0, 1, 4}) {
    Flow run(OptionsOf().dram(40 * kSegment).segments(kSegment).encoders(threads), kValues, 1e-6,
             FOREBAY_CODEC_DIFFERENCE);
    for (int step = 0; step < 150; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    std::vector<std::vector<double>> states;
    for (int step = 149; step >= 0; --step) states.push_back(run.got(step));
    if (threads == 0) first = states;
    EXPECT_EQ(states, first) << threads << " threads";
  }
}

TEST(Encoded, DifferencesFillManyTimesTheBudgetOfRawStates) {
  Flow run(OptionsOf().dram(4 * kSegment).segments(kSegment), kValues, 1e-4, FOREBAY_CODEC_DIFFERENCE);
  int stored = 0;
  while (run.put(stored) == FOREBAY_OK) ASSERT_LT(++stored, 2000);
  EXPECT_STATUS(FOREBAY_E_NO_SPACE, run.put(stored));
  EXPECT_GT(stored, 8 * 4 * static_cast<int>(kSegment / (kValues * sizeof(double))));
  EXPECT_EQ(run.count(), static_cast<std::uint64_t>(stored));
  for (int step = 0; step < stored; ++step) ASSERT_TRUE(run.whole(step)) << "nothing committed is lost";
  for (int step = 0; step < stored / 2; ++step) ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
  EXPECT_STATUS(FOREBAY_OK, run.put(stored)) << "the run goes on where room was made";
}

TEST(Encoded, StatesThatHoldNoNumberAreKeptAsTheyAre) {
  Flow run(OptionsOf().dram(4 * kMiB), kValues, 1e-4);
  const double strange[] = {std::nan(""), std::numeric_limits<double>::infinity()};
  const auto state = [&](int step) {
    std::vector<double> u = Flow::state(kValues, step, 0);
    if (step % 7 == 3) u[static_cast<std::size_t>(step)] = strange[step % 2];
    return u;
  };
  for (int step = 0; step < 40; ++step) {
    const std::vector<double> u = state(step);
    const void* memory = u.data();
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_put(run, step, step, &memory, 1));
  }
  for (int step = 39; step >= 0; --step) {
    if (step % 7 == 3) {
      EXPECT_EQ(std::memcmp(run.got(step).data(), state(step).data(), kValues * sizeof(double)), 0) << step;
    } else {
      EXPECT_TRUE(run.whole(step));
    }
  }
  const forebay_encoding_info info = run.encoding();
  EXPECT_EQ(info.fallbacks, 6u);
  EXPECT_STREQ(info.fallback_reason, "the field holds NaN or Inf");
  EXPECT_NE(info.codec, FOREBAY_CODEC_RAW) << "those behind them are encoded again";
}

TEST(Encoded, FieldsStandBesideFieldsThatAreNot) {
  const OptionsOf options = std::move(OptionsOf().dram(8 * kMiB).segments(kSegment));
  forebay_trajectory* t = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_open(options.get(), &t));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_declare(t, "u", FOREBAY_FLOAT64, 1000, nullptr));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_declare(t, "flags", FOREBAY_BYTES, 77, nullptr));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_declare(t, "p", FOREBAY_FLOAT32, 501, nullptr));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_declare(t, "nut", FOREBAY_FLOAT64, 13, nullptr));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_set_accepted_error(t, 0, 1e-6));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_set_accepted_error(t, 2, 1e-3));
  const auto flags = [](int step) { return std::vector<char>(77, static_cast<char>(step)); };
  const auto nut = [](int step) { return std::vector<double>(13, 1.0 / (step + 1)); };
  for (int step = 0; step < 120; ++step) {
    const auto u = codec::test::smooth<double>(1000, 0.001 * step);
    const auto f = flags(step);
    const auto p = codec::test::smooth<float>(501, 0.01 * step);
    const auto n = nut(step);
    const void* memory[] = {u.data(), f.data(), p.data(), n.data()};
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_put(t, step, step, memory, 4));
  }
  for (int step = 119; step >= 0; --step) {
    const void* got[4];
    for (int field = 3; field >= 0; --field) {
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_get(t, step, field, &got[field]));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got[field]) % 64, 0u);
    }
    const auto u = codec::test::smooth<double>(1000, 0.001 * step);
    const auto p = codec::test::smooth<float>(501, 0.01 * step);
    EXPECT_LE(codec::test::error_between(std::span<const double>(u), {static_cast<const double*>(got[0]), 1000}), 1e-6);
    EXPECT_LE(codec::test::error_between(std::span<const float>(p), {static_cast<const float*>(got[2]), 501}), 1e-3);
    EXPECT_EQ(std::memcmp(got[1], flags(step).data(), 77), 0);
    EXPECT_EQ(std::memcmp(got[3], nut(step).data(), 13 * sizeof(double)), 0);
    for (int field = 0; field < 4; ++field) ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(t, step));
    // A field that needs no decoding, of a step that was decoded before.
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_get(t, step, 1, &got[1]));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(t, step));
  }
  auto info = sized<forebay_encoding_info>();
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_describe_encoding(t, 3, &info));
  EXPECT_EQ(info.codec, FOREBAY_CODEC_RAW);
  EXPECT_EQ(info.stored_bytes, 120 * 13 * sizeof(double));
  forebay_trajectory_close(t);
}

TEST(Encoded, APinnedStateStaysWhereItIs) {
  const Scratch scratch;
  Flow run(OptionsOf().dram(4 * kSegment).pool(scratch.path(), 100 * kSegment).segments(kSegment), kValues, 1e-4);
  for (int step = 0; step < 10; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  const std::vector<double> before = run.got(2);
  const double* pinned = nullptr;
  ASSERT_STATUS(FOREBAY_OK, get_values(run, 2, pinned));
  for (int step = 10; step < 300; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  for (int step = 299; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), pinned));
  EXPECT_STATUS(FOREBAY_E_PINNED, forebay_trajectory_drop(run, 2));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, 2));
  EXPECT_STATUS(FOREBAY_E_NOT_PINNED, forebay_trajectory_release(run, 2));
}

TEST(Encoded, StatesOutliveThoseThatTheyStandOn) {
  Flow run(OptionsOf().dram(40 * kSegment).segments(kSegment), kValues, 1e-4, FOREBAY_CODEC_DIFFERENCE);
  for (int step = 0; step < 200; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  for (int step = 0; step < 200; ++step) {
    if (step % 9 != 5) {
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
    }
  }
  for (int step = 5; step < 200; step += 9) ASSERT_TRUE(run.whole(step));
  for (int step = 0; step < 200; ++step) {
    if (step % 9 != 5) {
      ASSERT_STATUS(FOREBAY_OK, run.put(step, 4));
    }
  }
  for (int step = 199; step >= 0; --step) ASSERT_TRUE(run.whole(step, step % 9 == 5 ? 0 : 4));
}

TEST(Encoded, StatesServeACheckpointScheduleInLittleRoom) {
  Flow run(OptionsOf().dram(2 * kSegment).segments(kSegment), kValues, 1e-4, FOREBAY_CODEC_DIFFERENCE);
  ASSERT_STATUS(FOREBAY_OK, run.put(0));
  for (int step = 1; step < 300; ++step) {
    ASSERT_STATUS(FOREBAY_OK, run.put(step));
    ASSERT_STATUS(FOREBAY_OK, run.put(step + 100000, 1));
    ASSERT_TRUE(run.whole(step));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step + 100000));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
  }
  EXPECT_TRUE(run.whole(0));
}

TEST(Encoded, RewindsForgetWhatWasOnItsWay) {
  Flow run(OptionsOf().dram(8 * kSegment).segments(kSegment), kValues, 1e-4, FOREBAY_CODEC_DIFFERENCE);
  for (std::uint64_t iteration = 0; iteration < 5; ++iteration) {
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step, iteration));
    if (iteration % 2 == 0) {
      for (int step = 99; step >= 0; --step) ASSERT_TRUE(run.whole(step, iteration));
    }
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
    EXPECT_EQ(run.count(), 0u);
  }
}

TEST(Encoded, StatesAreInterpolated) {
  Flow run(OptionsOf().dram(kMiB), kValues, 1e-6);
  for (const int step : {0, 10, 30}) ASSERT_STATUS(FOREBAY_OK, run.put(step));  // times 0, 1, 3
  std::vector<double> u(kValues);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_interpolate(run, 2.0, 0, u.data()));
  const auto low = Flow::state(kValues, 10, 0), high = Flow::state(kValues, 30, 0);
  for (std::size_t i = 0; i < kValues; ++i) ASSERT_NEAR(u[i], 0.5 * (low[i] + high[i]), 1e-4);
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run)) << "nothing stays pinned";
}

TEST(Encoded, StatesSpillAndComeBack) {
  const Scratch pool, shared("/tmp");
  Flow run(std::move(OptionsOf()
                         .dram(4 * kSegment)
                         .pool(pool.path(), 4 * kSegment)
                         .shared(shared.path(), 100 * kSegment)
                         .segments(kSegment)),
           kValues, 1e-7, FOREBAY_CODEC_TRUNCATION);
  for (int step = 0; step < 400; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  auto last = sized<forebay_tier_info>();
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_describe_tier(run, 2, &last));
  EXPECT_GT(last.used, 0u);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 399));
  for (int step = 399; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  std::mt19937 random(5);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(run.whole(static_cast<int>(random() % 400)));
}

class KeptEncoded : public testing::Test {
 protected:
  KeptEncoded() { options_.pool(pool_.path(), 64 * kSegment).segments(kSegment).keep().checksum(true); }
  const Scratch pool_;
  OptionsOf options_;
};

TEST_F(KeptEncoded, StatesAreFoundByTheNextProcessAndItGoesOn) {
  for (int turn = 0; turn < 3; ++turn) {
    Flow run(options_, kValues, 1e-5);
    EXPECT_STREQ(forebay_trajectory_get_recovery(run), "");
    ASSERT_EQ(run.count(), static_cast<std::uint64_t>(turn * 50));
    for (int step = turn * 50 - 1; step >= 0; --step) ASSERT_TRUE(run.whole(step));
    for (int step = 0; step < 50; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(turn * 50 + step));
  }
}

TEST_F(KeptEncoded, FieldsSayWithWhichErrorToAnyProgram) {
  { ASSERT_STATUS(FOREBAY_OK, Flow(options_, kValues, 1e-5).put(0)); }
  forebay_trajectory* t = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_open(options_.get(), &t));
  auto info = sized<forebay_encoding_info>();
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_describe_encoding(t, 0, &info));
  EXPECT_EQ(info.accepted_error, 1e-5);
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_set_accepted_error(t, 0, 1e-5));
  EXPECT_STATUS(FOREBAY_E_FIELD_CHANGED, forebay_trajectory_set_accepted_error(t, 0, 1e-4));
  EXPECT_STATUS(FOREBAY_E_FIELD_CHANGED, forebay_trajectory_set_accepted_error(t, 0, 0));
  const void* memory = nullptr;
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_get(t, 0, 0, &memory));
  forebay_trajectory_close(t);
}

// Damage that fits its check, as only somebody who means it can make.
TEST_F(KeptEncoded, AHeadThatClaimsLargerStatesGetsNoMemoryForThem) {
  { ASSERT_STATUS(FOREBAY_OK, Flow(options_, kValues, 1e-5).put(0)); }
  const std::string path = pool_.path() + "/trajectory-0/store";
  auto head = segment::decode_head(*read_file(path), path);
  ASSERT_TRUE(head);
  head->head.fields[0].count = std::uint64_t{1} << 36;
  head->head.fields[0].shape = {std::uint64_t{1} << 36};
  std::ofstream(path, std::ios::binary | std::ios::trunc) << encode_head(head->head, head->epoch);
  forebay_trajectory* t = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_open(options_.get(), &t));
  const void* memory = nullptr;
  EXPECT_STATUS(FOREBAY_E_DAMAGED, forebay_trajectory_get(t, 0, 0, &memory));
  forebay_trajectory_close(t);
}

TEST_F(KeptEncoded, DroppedStatesStayDroppedAndOthersReadable) {
  {
    Flow run(options_, kValues, 1e-5, FOREBAY_CODEC_DIFFERENCE);
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    for (int step = 0; step < 100; ++step) {
      if (step % 10 != 7) {
        ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
      }
    }
  }
  Flow run(options_, kValues, 1e-5);
  EXPECT_EQ(run.count(), 10u);
  for (int step = 97; step >= 0; step -= 10) EXPECT_TRUE(run.whole(step));
}

TEST_F(KeptEncoded, LaterThanOpenedTakesWhatIsOnItsWay) {
  OptionsOf vanishing;
  vanishing.pool(pool_.path(), 64 * kSegment).segments(kSegment);
  {
    Flow run(vanishing, kValues, 1e-5);
    for (int step = 0; step < 60; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 1));
    ASSERT_STATUS(FOREBAY_OK, run.put(60));
  }
  Flow run(options_, kValues, 1e-5);
  EXPECT_EQ(run.count(), 61u);
  for (int step = 60; step >= 0; --step) ASSERT_TRUE(run.whole(step));
}

TEST(BadTolerance, IsAnErrorOfItsOwn) {
  const OptionsOf options = std::move(OptionsOf().dram(4 * kMiB));
  States run(options);
  for (const double error : {-1e-6, 1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_STATUS(FOREBAY_E_TOLERANCE, forebay_trajectory_set_accepted_error(run, 0, error));
  }
  EXPECT_NE(std::string(forebay_error_get_text()).find("inf"), std::string::npos) << forebay_error_get_text();
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_FIELD, forebay_trajectory_set_accepted_error(run, 1, 1e-3));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_declare(run, "bytes", FOREBAY_BYTES, 8, nullptr));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_set_accepted_error(run, 1, 1e-3));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_set_codec(run, 0, static_cast<forebay_codec>(5)));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_options_set_integer(options.get(), "encoders", -1));
}

TEST(BadTolerance, ComesBeforeTheFirstStep) {
  States run(OptionsOf().dram(4 * kMiB));
  ASSERT_STATUS(FOREBAY_OK, run.put(0));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_set_accepted_error(run, 0, 0)) << "as it is";
  EXPECT_STATUS(FOREBAY_E_FIELDS_FIXED, forebay_trajectory_set_accepted_error(run, 0, 1e-3));
  EXPECT_STATUS(FOREBAY_E_FIELDS_FIXED, forebay_trajectory_set_codec(run, 0, FOREBAY_CODEC_ZFP));
  EXPECT_TRUE(run.whole(0)) << "every bit";
}

}  // namespace
}  // namespace forebay::encoded_test
