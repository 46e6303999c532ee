#include <gtest/gtest.h>

#include "store/codec/codec.h"
#include "store/codec/tests/fields.h"

namespace forebay::codec::test {
namespace {

constexpr std::size_t kCount = 5000;

// A chain of records, and what it was made of.
struct Chain {
  std::vector<std::vector<double>> fields;
  std::vector<Bytes> records;
  std::vector<Encoded> encoded;
};

template <class Field>
Chain chain_of(int steps, const Settings& settings, Field field) {
  Chain chain;
  Workspace workspace;
  Held writer(kCount);
  for (int step = 0; step < steps; ++step) {
    chain.fields.push_back(field(step));
    chain.records.emplace_back();
    const auto encoded = encode_into(chain.records.back(), chain.fields.back(), settings, workspace, &writer.reference);
    EXPECT_TRUE(encoded);
    chain.encoded.push_back(*encoded);
  }
  return chain;
}

constexpr Settings kSettings{.codec = Codec::difference, .accepted = 1e-4, .key_interval = 16};

std::vector<double> moving(int step) {
  return smooth<double>(kCount, 0.003 * step);
}

TEST(Difference, ErrorsDoNotAddUpOverAThousandSteps) {
  const Chain chain = chain_of(1000, kSettings, moving);
  Workspace workspace;
  Held reader(kCount);
  std::vector<double> field(kCount);
  for (std::size_t step = 0; step < chain.records.size(); ++step) {
    ASSERT_TRUE(decode_from(chain.records[step], field, workspace, &reader.reference)) << "step " << step;
    ASSERT_LE(error_between<double>(chain.fields[step], field), kSettings.accepted) << "step " << step;
  }
}

TEST(Difference, AReverseSweepReadsEachRecordOnceAndGivesTheSameBits) {
  const Chain chain = chain_of(100, kSettings, moving);
  Workspace workspace;
  Held forward(kCount), backward(kCount);
  std::vector<std::vector<double>> decoded(100, std::vector<double>(kCount));
  for (std::size_t step = 0; step < 100; ++step) {
    ASSERT_TRUE(decode_from(chain.records[step], decoded[step], workspace, &forward.reference));
  }
  backward.values = forward.values;
  backward.reference.grid = forward.reference.grid;
  backward.reference.label = forward.reference.label;
  std::vector<double> field(kCount);
  for (std::size_t step = 99; step > 0; --step) {
    const auto done =
        undo(std::span<const std::byte>(chain.records[step]), workspace, std::span(field), backward.reference);
    ASSERT_TRUE(done) << "step " << step << ": " << text(done.error());
    ASSERT_EQ(field, decoded[step - 1]);
  }
  EXPECT_EQ(undo(std::span<const std::byte>(chain.records[0]), workspace, std::span(field), backward.reference).error(),
            Failure::chain_starts_here);
}

TEST(Difference, AnyStepIsReachedFromItsKey) {
  const Chain chain = chain_of(60, kSettings, moving);
  for (std::size_t step = 0; step < 60; ++step) {
    std::size_t key = step;
    while (!inspect(chain.records[key])->is_key) --key;
    EXPECT_LT(step - key, kSettings.key_interval);
    Workspace workspace;
    Held reader(kCount);
    std::vector<double> field(kCount);
    for (std::size_t at = key; at <= step; ++at) {
      ASSERT_TRUE(decode_from(chain.records[at], field, workspace, &reader.reference));
    }
    EXPECT_LE(error_between<double>(chain.fields[step], field), kSettings.accepted);
  }
}

TEST(Difference, AStepThatIsHeldAlreadyIsGivenAgain) {
  const Chain chain = chain_of(3, kSettings, moving);
  Workspace workspace;
  Held reader(kCount);
  std::vector<double> once(kCount), again(kCount);
  ASSERT_TRUE(decode_from(chain.records[0], once, workspace, &reader.reference));
  ASSERT_TRUE(decode_from(chain.records[1], once, workspace, &reader.reference));
  ASSERT_TRUE(decode_from(chain.records[1], again, workspace, &reader.reference));
  EXPECT_EQ(once, again);
}

TEST(Difference, ADifferenceToAnotherStepIsRefused) {
  const Chain chain = chain_of(4, kSettings, moving);
  Workspace workspace;
  Held reader(kCount);
  std::vector<double> field(kCount);
  EXPECT_EQ(decode_from(chain.records[1], field, workspace).error(), Failure::needs_reference);
  EXPECT_EQ(decode_from(chain.records[1], field, workspace, &reader.reference).error(), Failure::reference_unfit);
  ASSERT_TRUE(decode_from(chain.records[0], field, workspace, &reader.reference));
  EXPECT_EQ(decode_from(chain.records[2], field, workspace, &reader.reference).error(), Failure::reference_unfit);
  EXPECT_EQ(undo(std::span<const std::byte>(chain.records[2]), workspace, std::span(field), reader.reference).error(),
            Failure::reference_unfit);
  // A refusal leaves the reference as it was.
  EXPECT_TRUE(decode_from(chain.records[1], field, workspace, &reader.reference));
}

TEST(Difference, AFieldThatFadesOrGrowsStaysWithinTheErrorAndMostlyInItsChain) {
  for (const double rate : {0.97, 1.03}) {
    const Chain chain = chain_of(300, kSettings, [&](int step) { return times(moving(step), std::pow(rate, step)); });
    Workspace workspace;
    Held reader(kCount);
    std::vector<double> field(kCount);
    std::size_t starts = 0;
    for (std::size_t step = 0; step < 300; ++step) {
      ASSERT_TRUE(decode_from(chain.records[step], field, workspace, &reader.reference));
      ASSERT_LE(error_between<double>(chain.fields[step], field), kSettings.accepted);
      starts += inspect(chain.records[step])->can_undo ? 0 : 1;
    }
    EXPECT_LT(starts, 80U);
  }
}

TEST(Difference, AStepWithNaNInterruptsTheChainAndNoMore) {
  const Chain chain = chain_of(12, kSettings, [](int step) {
    auto field = moving(step);
    if (step == 5) field[7] = std::numeric_limits<double>::quiet_NaN();
    return field;
  });
  EXPECT_EQ(chain.encoded[5].fallback, Fallback::not_finite);
  EXPECT_FALSE(inspect(chain.records[6])->can_undo);
  EXPECT_TRUE(chain.encoded[6].is_key);
  EXPECT_FALSE(chain.encoded[7].is_key);
  Workspace workspace;
  Held reader(kCount);
  std::vector<double> field(kCount);
  for (std::size_t step = 0; step < 12; ++step) {
    ASSERT_TRUE(decode_from(chain.records[step], field, workspace, &reader.reference));
    if (step != 5) {
      EXPECT_LE(error_between<double>(chain.fields[step], field), kSettings.accepted);
    }
  }
}

TEST(Difference, SteadyFieldsBecomeMuchSmallerThanTheirKeys) {
  const Chain chain = chain_of(64, kSettings, [](int step) { return smooth<double>(kCount, 1e-6 * step); });
  std::size_t bytes = 0;
  for (const Bytes& record : chain.records) bytes += record.size();
  EXPECT_GT(64.0 * kCount * sizeof(double) / static_cast<double>(bytes), 30);
}

TEST(Difference, FloatsComeBackWithinTheErrorInBothDirections) {
  Workspace workspace;
  Held writer(kCount), reader(kCount);
  std::vector<Bytes> records(20);
  std::vector<float> field(kCount);
  for (int step = 0; step < 20; ++step) {
    const auto exact = smooth<float>(kCount, 0.01 * step);
    ASSERT_TRUE(encode_into(records[static_cast<std::size_t>(step)], exact, kSettings, workspace, &writer.reference));
    ASSERT_TRUE(decode_from(records[static_cast<std::size_t>(step)], field, workspace, &reader.reference));
    EXPECT_LE(error_between<float>(exact, field), kSettings.accepted);
  }
  for (int step = 19; step > 0; --step) {
    ASSERT_TRUE(undo(std::span<const std::byte>(records[static_cast<std::size_t>(step)]), workspace, std::span(field),
                     reader.reference));
    EXPECT_LE(error_between<float>(smooth<float>(kCount, 0.01 * (step - 1)), field), kSettings.accepted);
  }
}

}  // namespace
}  // namespace forebay::codec::test
