#include "store/kept/kept.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/tests/scratch.h"
#include "store/segment/segment.h"

namespace forebay::kept {
namespace {

segment::StoreHead head() {
  segment::StoreHead made;
  made.store = 0x1234;
  made.segment_bytes = 8192;
  made.fields = {{"u", 2, 300, 0, {300}}, {"v", 2, 100, 1e-4, {100}}};
  return made;
}

// A store that says of itself whatever a test wants.
class Made {
 public:
  Made() { EXPECT_TRUE(make_private_directory(directory())); }
  std::string pool() const { return scratch_.path(); }
  std::string directory() const { return scratch_.path() + "/made-0"; }
  void write_head(const segment::StoreHead& made, std::uint64_t epoch = 1) const {
    std::ofstream(directory() + "/store", std::ios::binary) << segment::encode_head(made, epoch);
  }
  // Segments, each with a header that counts, and a file that is longer than that.
  void write_segments(const segment::StoreHead& of, segment::SegmentHeader header, int segments,
                      std::uint64_t length) const {
    const std::string path = directory() + "/segments";
    header.epoch = 1;
    std::fstream file(path, std::ios::binary | std::ios::out);
    for (int i = 0; i < segments; ++i) {
      header.generation = static_cast<std::uint64_t>(i) + 1;
      segment::seal_header(header, of.store);
      file.seekp(static_cast<std::streamoff>(static_cast<std::uint64_t>(i) * of.segment_bytes));
      file.write(reinterpret_cast<const char*>(&header), sizeof(header));
    }
    file.close();
    EXPECT_EQ(::truncate(path.c_str(), static_cast<off_t>(length)), 0);
  }
  Part found() const {
    const auto parts = find(pool());
    EXPECT_TRUE(parts && parts->size() == 1);
    return parts->front();
  }

 private:
  Scratch scratch_;
};

TEST(Kept, AHeadThatClaimsWhatCannotBeIsRefusedWithTheNameOfItsStore) {
  const Made made;
  std::vector<segment::StoreHead> heads(7, head());
  heads[0].segment_bytes = 0;
  heads[1].segment_bytes = 7;
  heads[2].segment_bytes = ~std::uint64_t{0} & ~std::uint64_t{4095};
  heads[3].fields[0].type = 99;
  heads[4].fields[0].count = ~std::uint64_t{0};
  heads[5].fields[1].accepted = -1;
  heads[6].fields[0].name.clear();
  for (std::size_t i = 0; i < heads.size(); ++i) {
    made.write_head(heads[i]);
    made.write_segments(heads[i], {}, 0, 1 << 20);
    const Part part = made.found();
    ASSERT_TRUE(part.head) << i;
    for (const auto& content : {list(part, *part.head), verify(part, *part.head)}) {
      ASSERT_FALSE(content) << i;
      EXPECT_EQ(content.error().code, Code::lost) << i;
      EXPECT_EQ(content.error().path, made.directory()) << i;
    }
  }
}

TEST(Kept, ALongFileWithNothingInItTakesNeitherTimeNorMemory) {
  const Made made;
  segment::StoreHead small = head();
  made.write_head(small);
  made.write_segments(small, {}, 1, std::uint64_t{1} << 40);
  Part part = made.found();
  auto content = verify(part, *part.head);
  ASSERT_TRUE(content) << content.error().text();
  ASSERT_EQ(content->losses.size(), 1u);
  EXPECT_NE(content->losses[0].what.find("nearly empty"), std::string::npos);
  // Segments of 128 GiB, of which a header says that as many records follow as fit.
  segment::StoreHead large = head();
  large.segment_bytes = segment::kLargestSegment;
  segment::SegmentHeader header;
  header.payloads = segment::kFirstRecord;
  header.records = ~std::uint64_t{0};
  made.write_head(large);
  made.write_segments(large, header, 2, 3 * large.segment_bytes);
  part = made.found();
  content = verify(part, *part.head);
  ASSERT_TRUE(content) << content.error().text();
  EXPECT_TRUE(content->steps.empty());
  EXPECT_EQ(content->losses.size(), 2u);
}

TEST(Kept, AFileThatIsCutInAHeaderIsToldAsCut) {
  const Made made;
  made.write_head(head());
  made.write_segments(head(), {}, 2, 8192 + 4096 + 1);
  const Part part = made.found();
  const auto content = verify(part, *part.head);
  ASSERT_TRUE(content) << content.error().text();
  ASSERT_EQ(content->losses.size(), 1u);
  EXPECT_NE(content->losses[0].what.find("segment 1 is cut off after 4097 bytes"), std::string::npos);
}

TEST(Kept, ASegmentsFileThatIsGoneIsLostWithItsStepsUnlessNothingWasKeptYet) {
  for (const std::uint64_t epoch : {0, 1}) {
    const Made made;
    made.write_head(head(), epoch);
    const Part part = made.found();
    const auto content = verify(part, *part.head);
    ASSERT_TRUE(content) << content.error().text();
    EXPECT_EQ(content->losses.size(), epoch);
    EXPECT_TRUE(content->steps.empty());
  }
}

TEST(Kept, AnotherProgramsDirectoryIsNoStore) {
  const Made made;
  std::ofstream(made.directory() + "/store") << "goods";
  const auto parts = find(made.pool());
  ASSERT_TRUE(parts) << parts.error().text();
  EXPECT_TRUE(parts->empty());
}

}  // namespace
}  // namespace forebay::kept
