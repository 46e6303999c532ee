// A device shared by stores. With FOREBAY_TEST_DEVICE=/dev/daxX.Y on that, which loses what it holds; without, on a
// file that libpmem2 is told to take for persistent memory.
#include "store/segment/device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "base/tests/scratch.h"
#include "store/segment/find_records.h"
#include "store/segment/medium.h"
#include "store/segment/range.h"
#include "store/segment/writer.h"

namespace forebay::segment {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kFileBytes = 64 * kMiB;

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (real_ != nullptr) {
      const auto opened = Device::open(real_);
      ASSERT_TRUE(opened) << opened.error().text();
    } else {
      ::setenv("PMEM2_FORCE_GRANULARITY", "CACHE_LINE", 1);
      auto file = open_file(path(), O_RDWR | O_CREAT);
      ASSERT_TRUE(file) << file.error().text();
      ASSERT_EQ(::ftruncate(file->get(), kFileBytes), 0);
      if (auto mapped = map_persistent(file->get(), 0, kFileBytes, path()); mapped && !*mapped) {
        GTEST_SKIP() << "built without libpmem2";
      }
    }
    clear();
  }
  void TearDown() override {
    if (!IsSkipped()) clear();
    ::unsetenv("PMEM2_FORCE_GRANULARITY");
  }

  std::string path() const { return real_ != nullptr ? real_ : join(scratch_.path(), "device"); }
  Device device() const {
    if (real_ != nullptr) return std::move(*Device::open(real_));
    auto file = open_file(path(), O_RDWR);
    auto memory = map_persistent(file->get(), 0, kFileBytes, path());
    EXPECT_TRUE(memory && *memory);
    return {std::move(*file), std::move(**memory), path()};
  }
  // The beginning of the device, as somebody else may write to it.
  std::span<std::byte> bytes() {
    if (!raw_) {
      Descriptor file(::open(path().c_str(), O_RDWR | O_CLOEXEC));
      raw_ = std::move(**map_persistent(file.get(), 0, kMiB * 16, path()));
    }
    return raw_->mapping.bytes;
  }
  void clear() { std::memset(bytes().data(), 0, kMiB); }

  Result<StoreRange> open(const std::string& name, bool kept, std::uint64_t budget = 8 * kMiB) const {
    return StoreRange::open(device(), name, kept, budget);
  }
  static StoreHead head_of(std::uint64_t store) {
    StoreHead head;
    head.store = store;
    head.segment_bytes = kMiB;
    return head;
  }

 private:
  const char* real_ = std::getenv("FOREBAY_TEST_DEVICE");
  Scratch scratch_{"/tmp"};
  std::optional<PersistentMapping> raw_;
};

TEST_F(DeviceTest, KeepsAStoreForTheNextProcess) {
  {
    auto range = open("x-0", true);
    ASSERT_TRUE(range) << range.error().text();
    EXPECT_FALSE(range->read_head()->has_value());
    auto medium = memory_of_range(*range);
    EXPECT_EQ(medium->kind(), "devdax");
    EXPECT_TRUE(medium->persistent());
    medium->set_durable(true);
    ASSERT_TRUE(range->write_head(head_of(5), 1, {}));
    auto mapping = medium->make(1, kMiB);
    ASSERT_TRUE(mapping) << mapping.error().text();
    Writer writer;
    ASSERT_EQ(writer.start(*medium, mapping->bytes, {5, true}, 1, 1), 0);
    std::memset(writer.payload(1000), 7, 1000);
    ASSERT_EQ(writer.commit(3, 0, 1000, Writer::Payload::written), 0);
    ASSERT_TRUE(range->write_epoch(5, 2));
  }
  auto range = open("x-0", true);
  ASSERT_TRUE(range);
  const auto found = range->read_head();
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->head.store, 5u);
  EXPECT_EQ((*found)->epoch, 2u);
  EXPECT_TRUE(range->has_segments());
  auto mapping = memory_of_range(*range)->map(1, kMiB);
  ASSERT_TRUE(mapping);
  int records = 0;
  find_records(mapping->bytes, 5, newest_header(mapping->bytes.first<kFirstRecord>(), 5)->header,
               [&](const RecordHeader& record) { records += record.step == 3 ? 1 : 0; });
  EXPECT_EQ(records, 1);
}

TEST_F(DeviceTest, GivesEveryStoreARangeOfItsOwn) {
  auto first = open("x-0", true);
  auto second = open("x-1", true);
  auto third = open("x-0", false);
  ASSERT_TRUE(first && second && third);
  std::memset(first->segments().data(), 1, first->segments().size());
  std::memset(second->segments().data(), 2, second->segments().size());
  std::memset(third->segments().data(), 3, third->segments().size());
  EXPECT_EQ(first->segments().front(), std::byte{1});
  EXPECT_EQ(first->segments().back(), std::byte{1});
  EXPECT_EQ(second->segments().front(), std::byte{2});
  EXPECT_EQ(second->segments().back(), std::byte{2});
  EXPECT_GE(first->segments().size(), 8 * kMiB);
}

TEST_F(DeviceTest, InUseIsRefused) {
  auto first = open("x-0", true);
  ASSERT_TRUE(first);
  auto second = open("x-0", true);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::busy) << second.error().text();
}

TEST_F(DeviceTest, TakesBackWhatWasNotKept) {
  for (int run = 0; run < 12; ++run) {  // far more than have room
    auto range = open("x-0", run % 2 == 0, 12 * kMiB);
    ASSERT_TRUE(range) << "run " << run << ": " << range.error().text();
    EXPECT_FALSE(range->read_head()->has_value());
  }
}

TEST_F(DeviceTest, NeverTakesWhatIsKept) {
  {
    auto kept = open("x-0", true);
    ASSERT_TRUE(kept && kept->write_head(head_of(5), 1, {}));
    std::memset(kept->segments().data(), 5, kept->segments().size());
  }
  for (int run = 0; run < 12; ++run) {
    auto range = open("x-0", false, 40 * kMiB);
    ASSERT_TRUE(range) << range.error().text();
    std::memset(range->segments().data(), 6, kMiB);
  }
  auto kept = open("x-0", true);
  ASSERT_TRUE(kept && kept->read_head()->has_value());
  EXPECT_EQ(kept->segments().front(), std::byte{5});
  EXPECT_EQ(kept->segments().back(), std::byte{5});
  // The range stays until it is not to be kept any more.
  ASSERT_TRUE(kept->keep(false));
  kept = open("x-0", true);
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->read_head()->has_value());
}

TEST_F(DeviceTest, KeepsLaterThanOpened) {
  {
    auto range = open("x-0", false);
    ASSERT_TRUE(range && range->keep(true) && range->write_head(head_of(9), 1, {}));
    auto other = open("x-0", false);
    ASSERT_TRUE(other);
    const auto refused = other->keep(true);
    ASSERT_FALSE(refused) << "the name is taken";
  }
  auto range = open("x-0", true);
  ASSERT_TRUE(range && range->read_head()->has_value());
  EXPECT_EQ((*range->read_head())->head.store, 9u);
}

TEST_F(DeviceTest, WithoutRoomSaysHowMuchThereIs) {
  auto range = open("x-0", false, std::uint64_t{1} << 50);
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().errno_value, ENOSPC) << range.error().text();
  auto small = open("x-0", false);
  ASSERT_TRUE(small);
  auto medium = memory_of_range(*small);
  EXPECT_TRUE(medium->make(0, 4 * kMiB));
  EXPECT_TRUE(medium->make(1, 4 * kMiB));
  auto full = medium->make(2, 4 * kMiB);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().errno_value, ENOSPC);
}

TEST_F(DeviceTest, OfSomebodyElseIsRefused) {
  std::memcpy(bytes().data() + 4096, "PMEMPOOL", 8);
  auto range = open("x-0", false);
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().code, Code::lost) << range.error().text();
  EXPECT_EQ(std::memcmp(bytes().data() + 4096, "PMEMPOOL", 8), 0);
}

TEST_F(DeviceTest, OfALaterVersionIsRefused) {
  ASSERT_TRUE(open("x-0", false));
  bytes()[7] = std::byte{2};
  auto range = open("x-0", false);
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().code, Code::conflict) << range.error().text();
}

TEST_F(DeviceTest, WithADamagedTableIsRefusedWithThePlace) {
  {
    auto kept = open("x-0", true);
    ASSERT_TRUE(kept && kept->write_head(head_of(5), 1, {}));
  }
  bytes()[256 + 240] ^= std::byte{1};
  auto range = open("x-1", false);
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().code, Code::lost);
  EXPECT_NE(range.error().text().find("at byte 256"), std::string::npos) << range.error().text();
}

TEST_F(DeviceTest, WhatOthersHaveLeftIsNoLostSegment) {
  const auto headers = [](const StoreRange& range) {
    std::vector<std::optional<FoundHeader>> found;
    for (auto rest = range.segments(); rest.size() >= kMiB; rest = rest.subspan(kMiB)) {
      found.push_back(newest_header(rest.first<kFirstRecord>(), 5));
    }
    return found;
  };
  for (const bool from_the_beginning : {true, false}) {
    {
      auto left = open("x-0", false);
      ASSERT_TRUE(left);
      std::memset(left->segments().data(), 0xa5, left->segments().size());
    }
    auto range = open("x-0", from_the_beginning);
    ASSERT_TRUE(range);
    ASSERT_EQ(range->segments()[kMiB], std::byte{0xa5});
    auto medium = memory_of_range(*range);
    auto mapping = medium->make(1, kMiB);
    ASSERT_TRUE(mapping);
    Writer writer;
    ASSERT_EQ(writer.start(*medium, mapping->bytes, {5, true}, 1, 1), 0);
    if (!from_the_beginning) {
      ASSERT_TRUE(range->keep(true));
    }
    ASSERT_TRUE(range->write_head(head_of(5), 1, {}));
    const auto found = headers(*range);
    ASSERT_GE(found.size(), 8u);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(found[i]) << "segment " << i;
      EXPECT_EQ(is_free(found[i]->header), i != 1) << "segment " << i;
    }
    // A head that is lost later is not made up for.
    std::memset(range->segments().data() + 2 * kMiB, 0xa5, kFirstRecord);
    ASSERT_TRUE(range->write_head(head_of(5), 1, {}));
    EXPECT_FALSE(headers(*range)[2]);
    ASSERT_TRUE(range->keep(false));
  }
}

TEST_F(DeviceTest, FlipsOfItsTableAndOfAHeadAreToldOrHarmless) {
  {
    auto kept = open("x-0", true);
    ASSERT_TRUE(kept && kept->write_head(head_of(5), 1, {}) && kept->write_epoch(5, 2));
  }
  std::vector<std::uint64_t> places;
  for (std::uint64_t at = 0; at < 768; ++at) places.push_back(at);  // the mark, the entry of the store, and a free one
  for (std::uint64_t at = 0; at < kStoreFileBytes; ++at) {
    if (at < 128 || (at > kHeadBytes - 9 && at < kLedgerAt + kLine) || at % 101 == 0) {
      places.push_back(kDeviceUnit + at);
    }
  }
  int told = 0;
  const auto find_head = [&]() -> Result<std::optional<DecodedHead>> {
    const auto kept = open("x-0", true);
    if (!kept) return forward(kept);
    return kept->read_head();
  };
  for (const std::uint64_t at : places) {
    const auto bit = static_cast<std::byte>(1u << (at % 8));
    bytes()[at] ^= bit;
    const auto head = find_head();
    bytes()[at] ^= bit;
    if (!head) {
      ++told;
      EXPECT_TRUE(head.error().code == Code::lost || head.error().code == Code::conflict)
          << "byte " << at << ": " << head.error().text();
    } else {
      ASSERT_TRUE(*head) << "byte " << at << ": taken for a store that was never kept";
      EXPECT_EQ((*head)->head.store, 5u) << "byte " << at;
      EXPECT_EQ((*head)->epoch, 2u) << "byte " << at;
    }
  }
  ASSERT_TRUE(find_head());
  std::printf("%zu flips, %d told\n", places.size(), told);
  EXPECT_GT(told, 500);
}

TEST_F(DeviceTest, WithADamagedHeadSaysSo) {
  {
    auto kept = open("x-0", true);
    ASSERT_TRUE(kept && kept->write_head(head_of(5), 1, {}));
  }
  bytes()[kDeviceUnit + 3] ^= std::byte{1};
  auto kept = open("x-0", true);
  ASSERT_TRUE(kept);
  const auto head = kept->read_head();
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code, Code::lost) << head.error().text();
}

}  // namespace
}  // namespace forebay::segment
