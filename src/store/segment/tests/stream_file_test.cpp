// Proves that on a streamed tier no header becomes durable before what it names: writes and syncs are recorded, and a
// model of a disk builds what a power cut could leave.
//
// The model: a sector of 512 bytes that was written may reach the disk at any time, in any order among sectors; it has
// certainly reached it once a sync followed. One sector that is ahead of all others, or behind them, is enough to show
// a header without its records, so these images are tried, for every sector and every cut.
#include "store/segment/stream_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/tests/scratch.h"
#include "store/segment/check.h"
#include "store/segment/find_records.h"
#include "store/segment/medium.h"
#include "store/segment/writer.h"

namespace forebay::segment {
namespace {

constexpr std::uint64_t kStreamedStore = 4711;
constexpr std::size_t kSector = 512;
constexpr std::uint32_t kRecords = 70;  // their headers fill more than one page
using Bytes = std::vector<std::byte>;

struct Touch {
  enum class Kind { write, sync, begun, acknowledged } kind;
  std::size_t at = 0;
  Bytes bytes = {};
  std::uint64_t generation = 0;
};

std::size_t segment_bytes() {
  return 4 * page_bytes();
}

// Two segments, one after the other, into the same place; the n-th sync (from 1) is left out.
std::vector<Touch> record(unsigned without_sync) {
  std::vector<Touch> trace;
  unsigned syncs = 0;
  const FileCalls calls{
      .write =
          [&](int, const void* from, std::size_t bytes, off_t at) {
            const auto* const begin = static_cast<const std::byte*>(from);
            trace.push_back({Touch::Kind::write, static_cast<std::size_t>(at), {begin, begin + bytes}, 0});
            return static_cast<ssize_t>(bytes);
          },
      .sync =
          [&](int) {
            if (++syncs != without_sync) trace.push_back({Touch::Kind::sync});
            return 0;
          }};
  const Scratch scratch;
  auto directory = StoreDirectory::open(scratch.path(), "x-0", StoreDirectory::How::unnamed);
  EXPECT_TRUE(directory);
  StreamFile file(*directory, calls);
  const auto memory = memory_of_process();
  auto mapping = memory->make(0, segment_bytes());
  EXPECT_TRUE(mapping);
  for (std::uint64_t generation = 1; generation <= 2; ++generation) {
    Writer writer;
    EXPECT_EQ(writer.start(*memory, mapping->bytes, {kStreamedStore, true}, generation, 1), 0);
    for (std::uint32_t k = 0; k < kRecords; ++k) {
      std::memset(writer.payload(64), static_cast<int>(100 * generation + k), 64);
      EXPECT_EQ(writer.commit(k, 0, 64, Writer::Payload::written), 0);
    }
    EXPECT_EQ(writer.seal(), 0);
    trace.push_back({Touch::Kind::begun, 0, {}, generation});
    EXPECT_TRUE(file.write(0, mapping->bytes, writer.extent(), {kStreamedStore, true, true}));
    trace.push_back({Touch::Kind::acknowledged, 0, {}, generation});
  }
  return trace;
}

// The disk as it may be at a cut: the versions of every sector, the certain one first.
class Disk {
 public:
  explicit Disk(std::span<const Touch> trace) : sectors_(segment_bytes() / kSector, {Bytes(kSector)}) {
    for (const Touch& event : trace) {
      switch (event.kind) {
        case Touch::Kind::write:
          write(event);
          break;
        case Touch::Kind::sync:
          for (auto& versions : sectors_) versions.erase(versions.begin(), versions.end() - 1);
          break;
        case Touch::Kind::begun:
          must_ = 0;
          break;
        case Touch::Kind::acknowledged:
          must_ = event.generation;
          break;
      }
    }
  }

  // "" or what is wrong.
  std::string check(std::size_t& images) const {
    for (const bool old : {true, false}) {
      Bytes image;
      for (const auto& versions : sectors_) {
        const Bytes& chosen = old ? versions.front() : versions.back();
        image.insert(image.end(), chosen.begin(), chosen.end());
      }
      for (std::size_t i = 0; i < sectors_.size(); ++i) {
        Bytes changed = image;
        for (const Bytes& version : sectors_[i]) {
          std::copy(version.begin(), version.end(), changed.begin() + static_cast<std::ptrdiff_t>(i * kSector));
          ++images;
          if (auto wrong = look(changed); !wrong.empty()) return wrong;
        }
      }
    }
    return "";
  }

 private:
  void write(const Touch& event) {
    for (std::size_t i = event.at / kSector; i * kSector < event.at + event.bytes.size(); ++i) {
      Bytes changed = sectors_[i].back();
      const std::size_t begin = std::max(event.at, i * kSector);
      const std::size_t end = std::min(event.at + event.bytes.size(), (i + 1) * kSector);
      std::memcpy(changed.data() + (begin - i * kSector), event.bytes.data() + (begin - event.at), end - begin);
      sectors_[i].push_back(std::move(changed));
    }
  }
  std::string look(const Bytes& image) const {
    const std::span<const std::byte> segment(image);
    const auto found = header_in_use(segment.first<kFirstRecord>(), kStreamedStore);
    if (!found) return must_ == 0 ? "" : "an acknowledged segment is lost";
    if (must_ != 0 && found->generation != must_) return "an older segment came back";
    std::uint32_t whole = 0;
    find_records(segment, kStreamedStore, *found, [&](const RecordHeader& record) {
      if (record.payload_check == payload_check(image.data() + payload_place(record.payload), 64)) ++whole;
    });
    return whole == kRecords ? "" : "a header names records that are not there";
  }

  std::vector<std::vector<Bytes>> sectors_;
  std::uint64_t must_ = 0;  // the generation that was acknowledged, and is not being replaced
};

std::string first_violation(const std::vector<Touch>& trace, std::size_t& images) {
  for (std::size_t length = 0; length <= trace.size(); ++length) {
    const Disk disk({trace.data(), length});
    if (auto wrong = disk.check(images); !wrong.empty()) return "cut " + std::to_string(length) + ": " + wrong;
  }
  return "";
}

TEST(StreamFile, MakesNoHeaderDurableBeforeWhatItNames) {
  std::size_t images = 0;
  EXPECT_EQ(first_violation(record(0), images), "");
  EXPECT_GT(images, 1000u);
}

TEST(StreamFile, ASyncThatIsLeftOutIsCaught) {
  // Each segment has three; the very first takes away headers that are not there.
  for (const unsigned sync : {2u, 3u, 4u, 5u, 6u}) {
    std::size_t images = 0;
    EXPECT_NE(first_violation(record(sync), images), "") << "sync " << sync;
  }
}

}  // namespace
}  // namespace forebay::segment
