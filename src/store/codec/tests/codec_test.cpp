#include "store/codec/codec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "store/codec/tests/fields.h"

namespace forebay::codec::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class Real>
void expect_round_trip(const std::vector<Real>& field, const Settings& settings, const std::string& what) {
  SCOPED_TRACE(what + ", " + named(settings.codec) + ", accepted " + std::to_string(settings.accepted) + ", " +
               std::to_string(field.size()) + " values of " + std::to_string(sizeof(Real)));
  Workspace workspace;
  Held writer(field.size()), reader(field.size());
  Bytes record;
  const auto encoded = encode_into(record, field, settings, workspace, &writer.reference);
  ASSERT_TRUE(encoded) << text(encoded.error());
  std::vector<Real> decoded(field.size(), Real{-77});
  const auto done = decode_from(record, decoded, workspace, &reader.reference);
  ASSERT_TRUE(done) << text(done.error());
  const double error = error_between<Real>(field, decoded);
  EXPECT_LE(error, settings.accepted * (1 + 1e-9));
  EXPECT_NEAR(error, encoded->error, 1e-6 * settings.accepted + 1e-18);
  EXPECT_LE(encoded->bytes, bound(field.size(), sizeof(Real)));
  const auto about = inspect(record);
  ASSERT_TRUE(about);
  EXPECT_EQ(about->bytes, encoded->bytes);
  EXPECT_EQ(about->codec, encoded->codec);
  EXPECT_EQ(about->fallback, encoded->fallback);
  EXPECT_EQ(about->error, encoded->error);
  EXPECT_EQ(about->count, field.size());
}

TEST(Codec, FieldsOfAnySizeComeBackWithinTheAcceptedError) {
  for (const Codec codec : kCodecs) {
    for (const std::size_t count : {0, 1, 2, 3, 7, 8, 9, 31, 63, 64, 1001, 65535, 65536, 65537, 200003}) {
      expect_round_trip(smooth<double>(count), {.codec = codec, .accepted = 1e-5}, "smooth");
      expect_round_trip(smooth<float>(count), {.codec = codec, .accepted = 1e-4}, "smooth");
    }
  }
}

template <class Real>
void expect_kinds_within(double accepted) {
  using Limits = std::numeric_limits<Real>;
  constexpr std::size_t kCount = 3000;
  std::vector<Real> denormal(kCount), mixed = rough<Real>(kCount), steps(kCount), spike(kCount, Real{0});
  for (std::size_t i = 0; i < kCount; ++i) {
    denormal[i] = static_cast<Real>(static_cast<double>(i % 50) * static_cast<double>(Limits::denorm_min()));
    mixed[i] *= static_cast<Real>(std::pow(10.0, static_cast<double>(i % 60) - 30));
    steps[i] = i % 3 == 0 ? Real{1} : static_cast<Real>(0.49999);
  }
  spike[17] = Real{1};
  std::vector<Real> extremes(kCount, Limits::max());
  for (std::size_t i = 0; i < kCount; i += 2) extremes[i] = Limits::lowest();
  const double small = static_cast<double>(Limits::min()), large = static_cast<double>(Limits::max());
  const std::pair<const char*, std::vector<Real>> kinds[] = {
      {"smooth", smooth<Real>(kCount)},
      {"rough", rough<Real>(kCount)},
      {"constant", std::vector<Real>(kCount, static_cast<Real>(0.1))},
      {"zero", std::vector<Real>(kCount, Real{0})},
      {"negative zero", std::vector<Real>(kCount, Real{-0.0})},
      {"denormal", denormal},
      {"smallest", std::vector<Real>(kCount, Limits::denorm_min())},
      {"tiny", times(rough<Real>(kCount), small * 100)},
      {"huge", times(smooth<Real>(kCount), large / 8)},
      {"largest", extremes},
      {"of all magnitudes", mixed},
      {"two values", steps},
      {"one spike", spike},
  };
  for (const auto& [what, field] : kinds) {
    for (const Codec codec : kCodecs) expect_round_trip(field, {.codec = codec, .accepted = accepted}, what);
  }
}

TEST(Codec, EveryKindOfFieldStaysWithinTheAcceptedError) {
  for (const double accepted : {0.0, 1e-300, 1e-15, 1e-9, 1e-6, 1e-4, 1e-2, 0.3, 0.99}) {
    expect_kinds_within<double>(accepted);
    expect_kinds_within<float>(accepted);
  }
}

TEST(Codec, AnAcceptedErrorOfZeroKeepsEveryBit) {
  for (const Codec codec : kCodecs) {
    Workspace workspace;
    Held held(500);
    const auto field = rough<double>(500);
    Bytes record;
    const auto encoded = encode_into(record, field, {.codec = codec, .accepted = 0}, workspace, &held.reference);
    ASSERT_TRUE(encoded);
    EXPECT_EQ(encoded->codec, Codec::raw);
    EXPECT_EQ(encoded->fallback, codec == Codec::raw ? Fallback::none : Fallback::nothing);
    std::vector<double> decoded(500);
    ASSERT_TRUE(decode_from(record, decoded, workspace));
    EXPECT_EQ(decoded, field);
  }
}

TEST(Codec, FieldsWithNaNOrInfAreStoredRawBitForBitAndSaySo) {
  for (const double special : {kNaN, kInf, -kInf}) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{12344}, std::size_t{20000}}) {
      for (const Codec codec : {Codec::float32, Codec::truncation, Codec::zfp, Codec::difference}) {
        auto field = smooth<double>(20001);
        field[place] = special;
        Workspace workspace;
        Held held(field.size());
        Bytes record;
        const auto encoded = encode_into(record, field, {.codec = codec, .accepted = 1e-3}, workspace, &held.reference);
        ASSERT_TRUE(encoded);
        EXPECT_EQ(inspect(record)->fallback, Fallback::not_finite) << named(codec);
        EXPECT_EQ(held.reference.grid, 0);
        std::vector<double> decoded(field.size());
        ASSERT_TRUE(decode_from(record, decoded, workspace));
        EXPECT_EQ(std::memcmp(decoded.data(), field.data(), field.size() * sizeof(double)), 0);
      }
    }
  }
}

TEST(Codec, LossyCodecsMakeSmoothFieldsSmaller) {
  const auto field = smooth<double>(100000);
  for (const auto& [codec, ratio] : {std::pair{Codec::float32, 1.9}, std::pair{Codec::truncation, 4.0},
                                     std::pair{Codec::zfp, 4.0}, std::pair{Codec::difference, 8.0}}) {
    if (!is_built(codec)) continue;
    Workspace workspace;
    Held held(field.size());
    Bytes record;
    const auto encoded = encode_into(record, field, {.codec = codec, .accepted = 1e-4}, workspace, &held.reference);
    ASSERT_TRUE(encoded);
    EXPECT_EQ(encoded->fallback, Fallback::none) << named(codec) << ": " << text(encoded->fallback);
    EXPECT_GT(static_cast<double>(field.size() * 8) / static_cast<double>(encoded->bytes), ratio) << named(codec);
  }
}

TEST(Codec, ZfpGainsByTheShapeOfTheField) {
  if (!is_built(Codec::zfp)) GTEST_SKIP() << "this build lacks zfp";
  std::vector<double> field(32 * 32 * 32);
  for (std::size_t i = 0; i < field.size(); ++i) {
    const double x = static_cast<double>(i % 32), y = static_cast<double>(i / 32 % 32);
    field[i] = std::sin(x / 5) * std::cos(y / 4) + 0.01 * static_cast<double>(i / 1024);
  }
  Workspace workspace;
  Bytes list, box;
  ASSERT_TRUE(encode_into(list, field, {.codec = Codec::zfp, .accepted = 1e-4}, workspace));
  ASSERT_TRUE(encode_into(box, field, {.codec = Codec::zfp, .accepted = 1e-4, .shape = {32, 32, 32}}, workspace));
  EXPECT_LT(box.size() * 2, list.size());
  std::vector<double> decoded(field.size());
  ASSERT_TRUE(decode_from(box, decoded, workspace));
  EXPECT_LE(error_between<double>(field, decoded), 1e-4);
}

TEST(Codec, EqualInputGivesEqualBytesWhateverTheWorkspaceDidBefore) {
  const auto field = rough<double>(70001);
  for (const Codec codec : kCodecs) {
    Workspace fresh, used;
    Bytes first, second;
    Held other(90001), a(field.size()), b(field.size());
    ASSERT_TRUE(encode_into(first, smooth<double>(90001), {.codec = codec, .accepted = 1e-7}, used, &other.reference));
    const Settings settings{.codec = codec, .accepted = 1e-4};
    ASSERT_TRUE(encode_into(first, field, settings, fresh, &a.reference));
    ASSERT_TRUE(encode_into(second, field, settings, used, &b.reference));
    EXPECT_EQ(first, second) << named(codec);
  }
}

TEST(Codec, WhatCannotBeMeantIsRefusedWithAnErrorOfItsOwn) {
  const auto field = smooth<double>(24);
  Workspace workspace;
  Bytes out(bound(field.size(), 8));
  Held held(field.size()), small(23);
  const auto refusal = [&](const Settings& settings, std::span<std::byte> room, Reference* reference) {
    const auto encoded = encode(std::span<const double>(field), settings, workspace, room, reference);
    return encoded ? Failure{} : encoded.error();
  };
  for (const double accepted : {-1e-3, -0.0 - 1e-300, kNaN, kInf, -kInf, 1.0}) {
    for (const Codec codec : kCodecs) {
      EXPECT_EQ(refusal({.codec = codec, .accepted = accepted}, out, &held.reference), Failure::bad_tolerance);
    }
  }
  const Codec unknown = static_cast<Codec>(9);
  EXPECT_EQ(refusal({.codec = unknown, .accepted = 0.1}, out, nullptr), Failure::bad_codec);
  for (const Shape shape : {Shape{24, 0, 0}, Shape{5, 5, 1}, Shape{4, 6, 2}, Shape{0xffffffff, 0xffffffff, 2}}) {
    EXPECT_EQ(refusal({.codec = Codec::zfp, .accepted = 0.1, .shape = shape}, out, nullptr), Failure::bad_shape);
  }
  EXPECT_EQ(refusal({.codec = Codec::raw}, std::span(out).first(out.size() - 1), nullptr), Failure::small_buffer);
  EXPECT_EQ(refusal({.codec = Codec::difference, .accepted = 0.1}, out, nullptr), Failure::needs_reference);
  EXPECT_EQ(refusal({.codec = Codec::difference, .accepted = 0.1}, out, &small.reference), Failure::needs_reference);
}

TEST(Codec, DecodingIntoTheWrongPlaceIsRefused) {
  Workspace workspace;
  Bytes record;
  ASSERT_TRUE(encode_into(record, smooth<double>(100), {.codec = Codec::truncation, .accepted = 1e-3}, workspace));
  std::vector<double> more(101);
  std::vector<float> floats(100);
  EXPECT_EQ(decode_from(record, more, workspace).error(), Failure::other_count);
  EXPECT_EQ(decode_from(record, floats, workspace).error(), Failure::other_type);
  record[4] = std::byte{2};
  EXPECT_EQ(inspect(record).error(), Failure::other_version);
  record[0] = std::byte{0};
  EXPECT_EQ(inspect(record).error(), Failure::not_encoded);
  EXPECT_EQ(inspect(std::span<const std::byte>(record).first(20)).error(), Failure::not_encoded);
}

}  // namespace
}  // namespace forebay::codec::test
