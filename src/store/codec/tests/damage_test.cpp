// Damaged and hostile records: anything may come out but a crash, a hang, memory without bound, or silence where the
// checks must speak.
#include <gtest/gtest.h>

#include <cstring>

#include "store/codec/codec.h"
#include "store/codec/header.h"
#include "store/codec/tests/fields.h"

namespace forebay::codec::test {
namespace {

constexpr std::uint64_t kSeed = 20261122;

// One record of each codec and type, the difference both as a key with a step and as a step.
template <class Real>
std::vector<Bytes> records_of(std::size_t count, std::vector<Real> (*field)(std::size_t, double)) {
  std::vector<Bytes> records;
  Workspace workspace;
  for (const Codec codec : kCodecs) {
    Held held(count);
    for (int step = 0; step < (codec == Codec::difference ? 3 : 1); ++step) {
      records.emplace_back();
      const Settings settings{.codec = codec, .accepted = 1e-4, .key_interval = 2};
      const auto encoded = encode_into(records.back(), field(count, 0.01 * step), settings, workspace, &held.reference);
      EXPECT_TRUE(encoded);
      const bool can_gain = is_built(codec) && (codec != Codec::float32 || sizeof(Real) == sizeof(double));
      EXPECT_TRUE(encoded->codec == codec || !can_gain) << named(codec) << ": " << text(encoded->fallback);
    }
  }
  return records;
}

template <class Real>
std::vector<Real> noisy(std::size_t count, double time) {
  auto field = smooth<Real>(count, time);
  const auto noise = rough<Real>(count, 3);
  for (std::size_t i = 0; i < count; ++i) field[i] += static_cast<Real>(0.05) * noise[i];
  return field;
}

void mutate(Bytes& record, std::mt19937_64& random) {
  const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (std::size_t change = 0; change <= any(4) && !record.empty(); ++change) {
    const std::size_t at = any(2) == 0 ? any(record.size()) : any(std::min<std::size_t>(record.size(), 140));
    switch (any(6)) {
      case 0:
        record[at] ^= static_cast<std::byte>(1U << any(8));
        break;
      case 1:
        record[at] = static_cast<std::byte>(random());
        break;
      case 2:
        for (std::size_t i = at; i < std::min(at + 8, record.size()); ++i) record[i] = std::byte{0xff};
        break;
      case 3:
        for (std::size_t i = at; i < std::min(at + 16, record.size()); ++i)
          record[i] = static_cast<std::byte>(random());
        break;
      case 4:
        record.resize(at);
        break;
      case 5:
        record.insert(record.begin() + static_cast<std::ptrdiff_t>(at), 1 + any(9), static_cast<std::byte>(random()));
        break;
    }
  }
}

// Makes the checks fit again, so that what lies behind them is met with damage too.
bool reseal(Bytes& record) {
  if (record.size() < sizeof(Header)) return false;
  Header header;
  std::memcpy(&header, record.data(), sizeof(header));
  const std::span<std::byte> all(record);
  seal(header, all.subspan(sizeof(Header)), all);
  return true;
}

template <class Real>
void decode_whatever(const Bytes& record, std::size_t count, Workspace& workspace) {
  std::vector<Real> field(count);
  Held reader(count);
  // A reference that claims to be what the record stands on, as a hostile pair of records could arrange.
  Header header;
  if (record.size() >= sizeof(header)) {
    std::memcpy(&header, record.data(), sizeof(header));
    for (const std::uint64_t label : {header.before, header.after}) {
      reader.reference.grid = header.parameter;
      reader.reference.label = label;
      (void)decode_from(record, field, workspace, &reader.reference);
      (void)undo(std::span<const std::byte>(record), workspace, std::span(field), reader.reference);
    }
  }
  reader.reference.forget();
  (void)decode_from(record, field, workspace, &reader.reference);
}

TEST(Damage, EveryFlippedBitIsNoticed) {
  Workspace workspace;
  std::vector<double> field(300);
  for (const Bytes& sound : records_of<double>(300, &noisy<double>)) {
    for (std::size_t bit = 0; bit < 8 * sound.size(); ++bit) {
      Bytes record = sound;
      record[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      Held reader(300);
      ASSERT_FALSE(decode_from(record, field, workspace, &reader.reference)) << "bit " << bit;
    }
  }
}

TEST(Damage, EveryCutIsNoticed) {
  Workspace workspace;
  std::vector<double> field(300);
  for (const Bytes& sound : records_of<double>(300, &noisy<double>)) {
    for (std::size_t size = 0; size < sound.size(); ++size) {
      // A copy of that size, so that a sanitizer sees reads behind the end.
      const Bytes record(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(size));
      Held reader(300);
      ASSERT_FALSE(decode_from(record, field, workspace, &reader.reference)) << "size " << size;
    }
  }
}

template <class Real>
void survive_mutations(std::size_t count, int rounds) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  Workspace workspace;
  for (const Bytes& sound : records_of<Real>(count, &noisy<Real>)) {
    for (int round = 0; round < rounds; ++round) {
      Bytes record = sound;
      mutate(record, random);
      decode_whatever<Real>(record, count, workspace);
      if (reseal(record)) decode_whatever<Real>(record, count, workspace);
    }
  }
}

TEST(Damage, MutatedRecordsNeverCrash) {
  survive_mutations<double>(1000, 3000);
  survive_mutations<float>(1001, 3000);
  survive_mutations<double>(70000, 20);
}

TEST(Damage, PayloadsOfNoiseNeverCrash) {
  std::mt19937_64 random(kSeed + 1);
  Workspace workspace;
  for (const Bytes& sound : records_of<double>(2000, &noisy<double>)) {
    for (int round = 0; round < 500; ++round) {
      Bytes record = sound;
      for (std::size_t i = sizeof(Header); i < record.size(); ++i) record[i] = static_cast<std::byte>(random());
      ASSERT_TRUE(reseal(record));
      decode_whatever<double>(record, 2000, workspace);
    }
  }
}

TEST(Damage, ACountThatIsALieIsRefusedBeforeAnythingIsMade) {
  Workspace workspace;
  std::vector<double> field(300);
  for (const Bytes& sound : records_of<double>(300, &noisy<double>)) {
    for (const std::uint64_t count : {std::uint64_t{301}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      Bytes record = sound;
      std::memcpy(record.data() + offsetof(Header, count), &count, sizeof(count));
      ASSERT_TRUE(reseal(record));
      Held reader(300);
      EXPECT_FALSE(decode_from(record, field, workspace, &reader.reference));
    }
  }
}

}  // namespace
}  // namespace forebay::codec::test
