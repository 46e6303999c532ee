#include "store/segment/writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/tests/scratch.h"
#include "store/segment/find_records.h"

namespace forebay::segment {
namespace {

constexpr std::uint64_t kStore = 77;

class WriterTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = medium_->make(0, 65536);
    ASSERT_TRUE(made);
    mapping_ = std::move(*made);
  }
  void start(std::uint64_t generation) {
    ASSERT_EQ(writer_.start(*medium_, mapping_.bytes, {kStore, false}, generation, 1), 0);
  }
  void put(std::int64_t step, std::size_t bytes) {
    std::memset(writer_.payload(bytes), static_cast<int>(step), bytes);
    ASSERT_EQ(writer_.commit(step, 0.5 * static_cast<double>(step), bytes, Writer::Payload::written), 0);
  }
  struct Seen {
    FoundRecords found;
    std::vector<std::int64_t> steps;
  };
  Seen look(std::uint64_t store = kStore) {
    Seen seen;
    const auto header = newest_header(mapping_.bytes.first<kFirstRecord>(), store);
    if (!header) return seen;
    seen.found = find_records(mapping_.bytes, store, header->header,
                              [&](const RecordHeader& record) { seen.steps.push_back(record.step); });
    return seen;
  }

  std::unique_ptr<Medium> medium_ = memory_of_process();
  Mapping mapping_;
  Writer writer_;
};

using Steps = std::vector<std::int64_t>;

TEST_F(WriterTest, WhatIsCommittedIsFoundAndNothingElse) {
  start(1);
  put(1, 100);
  put(2, 64);
  put(7, 3000);
  std::memset(writer_.payload(500), 9, 500);  // never committed
  const Seen seen = look();
  EXPECT_EQ(seen.steps, (Steps{1, 2, 7}));
  EXPECT_EQ(seen.found.extent.headers, writer_.extent().headers);
  EXPECT_EQ(seen.found.extent.payloads, writer_.extent().payloads);
  EXPECT_EQ(seen.found.damage_count, 0u);
}

TEST_F(WriterTest, RecordsAreAligned) {
  start(1);
  for (const std::size_t bytes : {1, 65, 64}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(writer_.payload(bytes)) % 64, 0u);
    put(1, bytes);
  }
}

TEST_F(WriterTest, AReaderInReverseReadsRisingAddressesWithoutGaps) {
  start(1);
  const std::byte* above = mapping_.bytes.data() + mapping_.bytes.size();
  for (const std::size_t bytes : {4096, 64, 640}) {
    EXPECT_EQ(writer_.payload(bytes), above - bytes);
    above = writer_.payload(bytes);
    put(1, bytes);
  }
}

TEST_F(WriterTest, ASegmentIsFullWhenHeadersMeetPayloads) {
  start(1);
  const std::size_t room = mapping_.bytes.size() - kFirstRecord;
  EXPECT_TRUE(writer_.has_room(room - kLine));
  EXPECT_FALSE(writer_.has_room(room - kLine + 1));
  std::size_t records = 0;
  for (; writer_.has_room(64); ++records) put(static_cast<std::int64_t>(records), 64);
  EXPECT_EQ(records, room / 128);
  EXPECT_FALSE(writer_.has_room(~std::uint64_t{0}));
  EXPECT_EQ(look().steps.size(), records);
}

TEST_F(WriterTest, AnOldGenerationIsNeverTakenForANewOne) {
  start(1);
  for (int step = 0; step < 50; ++step) put(step, 640);
  ASSERT_EQ(writer_.seal(), 0);
  start(2);
  EXPECT_EQ(look().steps, Steps{});
  put(100, 640);  // the next header position holds a whole header of the old use
  EXPECT_EQ(look().steps, Steps{100});
  EXPECT_EQ(look().found.damage_count, 0u);
}

TEST_F(WriterTest, AnotherStoresRecordsAreNotFound) {
  start(1);
  put(1, 100);
  EXPECT_TRUE(look(kStore + 1).steps.empty());
}

TEST_F(WriterTest, DroppedRecordsAreSteppedOver) {
  start(1);
  put(1, 100);
  put(2, 100);
  put(3, 100);
  ASSERT_EQ(writer_.drop(1), 0);
  const Seen seen = look();
  EXPECT_EQ(seen.steps, (Steps{1, 3}));
  EXPECT_EQ(seen.found.records, 3u);
}

TEST_F(WriterTest, TheRoomOfTheLastRecordIsUsedAgain) {
  start(1);
  put(1, 100);
  const Extent before = writer_.extent();
  put(2, 100);
  put(3, 300);
  ASSERT_EQ(writer_.drop(2), 0);
  ASSERT_EQ(writer_.drop(1), 0);
  EXPECT_EQ(writer_.extent().headers, before.headers);
  EXPECT_EQ(writer_.extent().payloads, before.payloads);
  put(4, 900);
  EXPECT_EQ(look().steps, (Steps{1, 4})) << "the header of step 3 is still there";
  EXPECT_EQ(look().found.damage_count, 0u);
}

TEST_F(WriterTest, ADamagedHeaderCostsOneRecordAndIsReportedWithItsPlace) {
  start(1);
  for (const int step : {1, 2, 3}) put(step, 100);
  mapping_.bytes[header_place(1) + 20] ^= std::byte{1};
  for (const bool sealed : {false, true}) {
    if (sealed) {
      ASSERT_EQ(writer_.seal(), 0);
    }
    const Seen seen = look();
    EXPECT_EQ(seen.steps, (Steps{1, 3}));
    ASSERT_EQ(seen.found.damage_count, 1u);
    EXPECT_EQ(seen.found.damages[0].from, header_place(1));
    EXPECT_EQ(seen.found.damages[0].to, header_place(2));
  }
}

TEST_F(WriterTest, ASealedSegmentMissesADamagedLastRecord) {
  start(1);
  put(1, 100);
  put(2, 100);
  ASSERT_EQ(writer_.seal(), 0);
  mapping_.bytes[header_place(1)] ^= std::byte{1};
  const auto expect_one_missing = [&] {
    const Seen seen = look();
    EXPECT_EQ(seen.steps, Steps{1});
    ASSERT_EQ(seen.found.damage_count, 1u);
    EXPECT_EQ(seen.found.damages[0].from, header_place(1));
  };
  expect_one_missing();
  for (const std::size_t header : {std::size_t{0}, kLine}) {
    mapping_.bytes[header + 9] ^= std::byte{1};
    expect_one_missing();
    mapping_.bytes[header + 9] ^= std::byte{1};
  }
}

TEST_F(WriterTest, RubbishIsWalkedWithoutHarm) {
  start(1);
  for (int step = 0; step < 40; ++step) put(step, 200);
  ASSERT_EQ(writer_.seal(), 0);
  const std::vector<std::byte> whole(mapping_.bytes.begin(), mapping_.bytes.end());
  std::uint64_t random = 88172645463325252u;
  const auto next = [&] {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
  };
  for (int round = 0; round < 2000; ++round) {
    std::memcpy(mapping_.bytes.data(), whole.data(), whole.size());
    for (int i = 0; i < 1 + round % 20; ++i) mapping_.bytes[next() % header_place(45)] = static_cast<std::byte>(next());
    const Seen seen = look();
    EXPECT_LE(seen.steps.size(), 40u);
    EXPECT_LE(seen.found.damages.size(), kDamageLimit);
  }
}

TEST(Retire, LeavesNothingToFind) {
  auto medium = memory_of_process();
  auto mapping = medium->make(0, 8192);
  ASSERT_TRUE(mapping);
  Writer writer;
  writer.start(*medium, mapping->bytes, {kStore, false}, 1, 1);
  writer.seal();
  ASSERT_TRUE(header_in_use(mapping->bytes.first<kFirstRecord>(), kStore));
  ASSERT_EQ(retire(*medium, mapping->bytes, kStore), 0);
  EXPECT_FALSE(header_in_use(mapping->bytes.first<kFirstRecord>(), kStore));
  for (int line = 0; line < 2; ++line) {
    std::byte lines[kFirstRecord];
    std::memcpy(lines, mapping->bytes.data(), sizeof(lines));
    lines[line * kLine + 3] ^= std::byte{4};
    EXPECT_FALSE(header_in_use(lines, kStore)) << "nor when one of its lines is damaged";
    EXPECT_TRUE(newest_header(lines, kStore)) << "but that it is free is known";
  }
}

}  // namespace
}  // namespace forebay::segment
