#include "store/segment/format.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

namespace forebay::segment {
namespace {

StoreHead head() {
  StoreHead made;
  made.store = 0x1234;
  made.segment_bytes = 1 << 20;
  made.rank = 3;
  made.ranks = 4;
  made.tiers = 2;
  made.fields = {{"velocity", 2, 300, 0, {3, 100}}, {"pressure", 1, 100, 1e-4}};
  return made;
}

TEST(Head, SurvivesWritingAndReading) {
  const auto read = decode_head(encode_head(head(), 7), "store");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->epoch, 7u);
  EXPECT_EQ(read->head.store, 0x1234u);
  EXPECT_EQ(read->head.segment_bytes, 1u << 20);
  EXPECT_EQ(read->head.rank, 3u);
  ASSERT_EQ(read->head.fields.size(), 2u);
  EXPECT_EQ(read->head.fields[0].name, "velocity");
  EXPECT_EQ(read->head.fields[0].accepted, 0);
  EXPECT_EQ(read->head.fields[1].count, 100u);
  EXPECT_EQ(read->head.fields[1].accepted, 1e-4);
  EXPECT_EQ(read->head.fields[0].shape, (std::vector<std::uint64_t>{3, 100}));
  EXPECT_TRUE(read->head.fields[1].shape.empty());
}

TEST(Head, HasALedgerInTwoPlaces) {
  Ledger ledger{5, 7, {{.life = 11, .slots = 3, .steps = 20, .highest = -1}, {.life = 12, .losses = 1, .lost = 8}}};
  const std::string whole = encode_head(head(), 7, ledger);
  for (const std::size_t damaged : {kStoreFileBytes, kLedgerAt + 9, kLedgerAt + kLedgerBytes + 200}) {
    std::string bytes = whole + " ";
    bytes[damaged] = static_cast<char>(bytes[damaged] ^ 1);
    const auto read = decode_head(std::string_view(bytes).substr(0, whole.size()), "store");
    ASSERT_TRUE(read && read->ledger) << damaged;
    EXPECT_EQ(read->ledger->serial, 5u);
    ASSERT_EQ(read->ledger->tiers.size(), 2u);
    EXPECT_EQ(read->ledger->tiers[0].highest, -1);
    EXPECT_EQ(read->ledger->tiers[1].lost, 8u);
  }
  std::string bytes = whole;
  bytes[kLedgerAt] = bytes[kLedgerAt + kLedgerBytes] = 'x';
  EXPECT_FALSE(decode_head(bytes, "store")->ledger) << "that it is damaged is no reason to lose the store";
  ++ledger.serial;
  ledger.tiers[0].steps = 30;
  encode_ledger(head().store, ledger).copy(&bytes[kLedgerAt + kLedgerBytes], kLedgerBytes);
  EXPECT_EQ(decode_head(bytes, "store")->ledger->tiers[0].steps, 30u);
}

TEST(Head, OfAnotherVersionIsRefused) {
  std::string bytes = encode_head(head(), 1);
  bytes[8] = 3;
  const auto read = decode_head(bytes, "store");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::conflict);
  EXPECT_NE(read.error().what.find("version 3"), std::string::npos) << read.error().text();
  EXPECT_NE(read.error().advice.find("put its states into a new store"), std::string::npos) << "that of forebay 0.1";
}

TEST(Head, WithAnyByteChangedIsRefusedOrSaysTheSame) {
  const std::string whole = encode_head(head(), 1);
  for (std::size_t at = 0; at < whole.size(); at += at < 256 ? 1 : 97) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    const auto read = decode_head(bytes, "store");
    if (at < kHeadBytes) {
      EXPECT_FALSE(read) << "byte " << at;
    }
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{100}, kHeadBytes, whole.size() - 1}) {
    const auto read = decode_head(std::string_view(whole).substr(0, length), "store");
    ASSERT_FALSE(read) << length;
    EXPECT_EQ(read.error().code, Code::lost);
  }
}

TEST(Head, WithATornNewEpochHasTheOldOne) {
  std::string bytes = encode_head(head(), 4);
  const EpochLine next = epoch_line(head().store, 5);
  std::memcpy(bytes.data() + next.at, &next.line, sizeof(next.line));
  EXPECT_EQ(decode_head(bytes, "store")->epoch, 5u);
  bytes[next.at + 3] = static_cast<char>(bytes[next.at + 3] + 1);
  EXPECT_EQ(decode_head(bytes, "store")->epoch, 4u);
}

TEST(RecordHeader, IsLiveThenDroppedAndNothingElse) {
  RecordHeader header;
  header.generation = 5;
  header.step = 12;
  header.record = 3;
  header.payload = 128;
  seal_header(header, 99);
  EXPECT_EQ(state_of(header, 99), RecordState::live);
  EXPECT_EQ(state_of(header, 98), RecordState::none) << "of another store";
  RecordHeader dropped = header;
  dropped.state = dropped_state(header);
  EXPECT_EQ(state_of(dropped, 99), RecordState::dropped);
}

TEST(RecordHeader, TornBetweenAnOldAndANewOneIsOneOfThemOrNone) {
  RecordHeader before, after;
  before.generation = after.generation = 5;
  before.record = after.record = 3;
  before.payload = 128;
  after.payload = 125;
  before.step = 1;
  after.step = 2;
  before.payload_bytes = after.payload_bytes = 640;
  seal_header(before, 99, RecordState::dropped);
  seal_header(after, 99);
  for (unsigned mask = 0; mask < 256; ++mask) {
    RecordHeader torn;
    for (unsigned word = 0; word < 8; ++word) {
      const auto& from = (mask >> word & 1) != 0 ? after : before;
      std::memcpy(reinterpret_cast<char*>(&torn) + 8 * word, reinterpret_cast<const char*>(&from) + 8 * word, 8);
    }
    if (state_of(torn, 99) == RecordState::live) {
      EXPECT_EQ(std::memcmp(&torn, &after, sizeof(torn)), 0) << "mask " << mask;
    }
  }
}

}  // namespace
}  // namespace forebay::segment
