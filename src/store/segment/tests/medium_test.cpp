#include "store/segment/medium.h"

#include <gtest/gtest.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "base/tests/scratch.h"
#include "store/segment/check.h"
#include "store/segment/copy.h"
#include "store/segment/find_records.h"
#include "store/segment/stream_file.h"
#include "store/segment/writer.h"

namespace forebay::segment {
namespace {

std::string_view kind_beneath(const std::string& pool) {
  auto directory = StoreDirectory::open(pool, "kind", StoreDirectory::How::unnamed);
  EXPECT_TRUE(directory);
  auto medium = memory_of_directory(*directory);
  EXPECT_TRUE(medium);
  return (*medium)->kind();
}

TEST(Medium, IsKnownByWhatLiesBeneath) {
  EXPECT_EQ(kind_beneath(Scratch("/dev/shm").path()), "tmpfs");
  EXPECT_EQ(memory_of_process()->kind(), "dram");
}

MappedFile shared_memory(std::size_t bytes) {
  const Descriptor file(::memfd_create("forebay-test", MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  auto mapped = MappedFile::of(file.get(), 0, bytes, PROT_READ | PROT_WRITE, "memory");
  EXPECT_TRUE(mapped) << mapped.error().text();
  return std::move(*mapped);
}

// The bytes in huge pages of all that this process shares.
std::size_t bytes_in_huge_pages() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  std::string word;
  std::size_t kilobytes = 0;
  while (rollup >> word && word != "ShmemPmdMapped:") continue;
  rollup >> kilobytes;
  return kilobytes << 10;
}

bool kernel_puts_pages_together(std::size_t bytes) {
#ifdef MADV_COLLAPSE
  const MappedFile memory = shared_memory(bytes);
  for (std::size_t at = 0; at < bytes; at += kHugePage) memory.bytes()[at] = std::byte{1};
  return ::madvise(memory.bytes().data(), bytes, MADV_COLLAPSE) == 0;
#else
  return false;
#endif
}

TEST(Touch, KeepsWhatSharedMemoryHolds) {
  const MappedFile memory = shared_memory(4 * kHugePage + 12345);
  const std::size_t places[] = {0, kHugePage - 1, kHugePage + 5000, 4 * kHugePage - 1, 4 * kHugePage + 12344};
  for (const std::size_t place : places) memory.bytes()[place] = std::byte{42};
  ASSERT_TRUE(touch(memory.bytes(), "memory"));
  for (const std::size_t place : places) EXPECT_EQ(memory.bytes()[place], std::byte{42}) << place;
  EXPECT_EQ(memory.bytes()[1], std::byte{0});
}

TEST(Touch, PutsSharedMemoryTogether) {
  if (!kernel_puts_pages_together(4 * kHugePage)) GTEST_SKIP() << "this kernel does not put small pages together";
  const MappedFile memory = shared_memory(4 * kHugePage + 12345);
  ASSERT_TRUE(touch(memory.bytes(), "memory"));
  EXPECT_GE(bytes_in_huge_pages(), 4 * kHugePage);
}

TEST(Medium, PutsSegmentsOnTmpfsTogether) {
  if (!kernel_puts_pages_together(4 * kHugePage)) GTEST_SKIP() << "this kernel does not put small pages together";
  const Scratch scratch("/dev/shm");
  auto directory = StoreDirectory::open(scratch.path(), "x-0", StoreDirectory::How::unnamed);
  ASSERT_TRUE(directory) << directory.error().text();
  auto medium = memory_of_directory(*directory);
  ASSERT_TRUE(medium);
  const auto segment = (*medium)->make(1, 4 * kHugePage);
  ASSERT_TRUE(segment) << segment.error().text();
  EXPECT_GE(bytes_in_huge_pages(), 4 * kHugePage);
}

TEST(Medium, KeepsAKeptSegmentForTheNextMapping) {
  for (const char* where : {"/dev/shm", "/tmp"}) {
    const Scratch scratch(where);
    {
      auto directory = StoreDirectory::open(scratch.path(), "x-0", StoreDirectory::How::named);
      ASSERT_TRUE(directory) << directory.error().text();
      auto medium = memory_of_directory(*directory);
      ASSERT_TRUE(medium);
      (*medium)->set_durable(true);
      auto mapping = (*medium)->make(1, 8192);
      ASSERT_TRUE(mapping) << mapping.error().text();
      ASSERT_EQ((*medium)->store(mapping->bytes.data(), "forebay", 8), 0);
      ASSERT_EQ((*medium)->fence(), 0);
    }
    auto directory = StoreDirectory::open(scratch.path(), "x-0", StoreDirectory::How::named);
    ASSERT_TRUE(directory);
    auto medium = memory_of_directory(*directory);
    auto mapping = (*medium)->map(1, 8192);
    ASSERT_TRUE(mapping);
    EXPECT_STREQ(reinterpret_cast<const char*>(mapping->bytes.data()), "forebay");
    EXPECT_FALSE((*medium)->map(2, 8192)) << "a segment behind the end";
  }
}

// libpmem2 takes any file for persistent memory when it is told to; nothing but the power cut is missing then.
TEST(Medium, OnPersistentMemoryNeedsNoSystemCallToMakeStoresLast) {
  ::setenv("PMEM2_FORCE_GRANULARITY", "CACHE_LINE", 1);
  const Scratch scratch("/tmp");
  auto directory = StoreDirectory::open(scratch.path(), "x-0", StoreDirectory::How::named);
  ASSERT_TRUE(directory);
  auto medium = memory_of_directory(*directory);
  ASSERT_TRUE(medium) << medium.error().text();
  if ((*medium)->kind() != "fsdax") GTEST_SKIP() << "built without libpmem2";
  EXPECT_TRUE((*medium)->persistent());
  (*medium)->set_durable(true);
  auto mapping = (*medium)->make(1, 65536);
  ::unsetenv("PMEM2_FORCE_GRANULARITY");
  ASSERT_TRUE(mapping) << mapping.error().text();
  Writer writer;
  ASSERT_EQ(writer.start(**medium, mapping->bytes, {5, true}, 1, 1), 0);
  for (int step = 0; step < 10; ++step) {
    const std::vector<char> payload(1000, static_cast<char>(step));
    if (step % 2 == 0) {
      std::memcpy(writer.payload(payload.size()), payload.data(), payload.size());
    } else {
      ASSERT_EQ((*medium)->store(writer.payload(payload.size()), payload.data(), payload.size()), 0);
    }
    ASSERT_EQ(writer.commit(step, 0, 1000, step % 2 == 0 ? Writer::Payload::written : Writer::Payload::stored), 0);
  }
  int found = 0;
  find_records(mapping->bytes, 5, newest_header(mapping->bytes.first<kFirstRecord>(), 5)->header,
               [&](const RecordHeader& record) {
                 EXPECT_EQ(record.payload_check,
                           payload_check(mapping->bytes.data() + payload_place(record.payload), 1000));
                 ++found;
               });
  EXPECT_EQ(found, 10);
}

TEST(Directory, InUseIsRefused) {
  const Scratch scratch;
  auto first = StoreDirectory::open(scratch.path(), "x-0", StoreDirectory::How::named);
  ASSERT_TRUE(first);
  auto second = StoreDirectory::open(scratch.path(), "x-0", StoreDirectory::How::named);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::busy);
  EXPECT_TRUE(StoreDirectory::open(scratch.path(), "x-1", StoreDirectory::How::named)) << "another rank's";
}

TEST(Directory, NotKeptLeavesNoName) {
  const Scratch scratch;
  auto directory = StoreDirectory::open(scratch.path(), "x-0", StoreDirectory::How::unnamed);
  ASSERT_TRUE(directory);
  EXPECT_TRUE(list_directory(scratch.path())->empty());
  ASSERT_TRUE(directory->keep(true));
  EXPECT_EQ(list_directory(scratch.path())->size(), 1u);
  ASSERT_TRUE(directory->keep(false));
  EXPECT_TRUE(list_directory(scratch.path())->empty());
}

TEST(Medium, ThatIsFullSaysSoInsteadOfKillingTheProcess) {
  const SmallTmpfs small(0, "size=4m");
  if (!small.mounted()) GTEST_SKIP() << "cannot mount a small tmpfs";
  auto directory = StoreDirectory::open(small.path(), "x-0", StoreDirectory::How::unnamed);
  ASSERT_TRUE(directory);
  auto medium = memory_of_directory(*directory);
  EXPECT_TRUE((*medium)->make(0, 2 << 20));
  auto full = (*medium)->make(1, 4 << 20);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().errno_value, ENOSPC) << full.error().text();
}

// Made longer again by a segment that is just being made, it would hold zeros where states were.
TEST(Medium, AFileThatIsCutWhileASegmentIsMadeStaysCut) {
  constexpr std::uint64_t kBytes = 4096;  // made so fast that a cut often comes at the worst moment
  for (const char* place : {"/dev/shm", "/tmp"}) {
    for (int trial = 0; trial < 60; ++trial) {
      const Scratch scratch(place);
      auto directory = StoreDirectory::open(scratch.path(), "x-0", StoreDirectory::How::named);
      ASSERT_TRUE(directory);
      auto medium = memory_of_directory(*directory);
      ASSERT_TRUE(medium);
      std::atomic<std::uint32_t> made = 0;
      std::jthread maker([&] {
        while (made < 30000 && (*medium)->make(made, kBytes)) ++made;
      });
      while (made < 3) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(trial * 10));
      ASSERT_EQ(::truncate((scratch.path() + "/x-0/segments").c_str(), 0), 0);
      maker.join();
      EXPECT_FALSE((*medium)->look_at_length()) << place << ", " << made << " segments made";
    }
  }
}

TEST(StreamFile, ReadsWhatItWroteOfASegmentThatIsInUse) {
  constexpr std::size_t kBytes = 65536;
  for (const char* where : {"/dev/shm", "/tmp"}) {
    const Scratch scratch(where);
    auto directory = StoreDirectory::open(scratch.path(), "x-0", StoreDirectory::How::unnamed);
    ASSERT_TRUE(directory);
    StreamFile file(*directory);
    auto from = memory_of_process()->make(0, kBytes);
    auto to = memory_of_process()->make(0, kBytes);
    for (const Extent used : {Extent{192, kBytes - 64}, Extent{5000, 30000}, Extent{8192, 8192}}) {
      std::memset(from->bytes.data(), 5, kBytes);
      std::memset(to->bytes.data(), 0, kBytes);
      ASSERT_TRUE(file.write(kBytes, from->bytes, used, {1, false, true}));
      const std::byte patch[8] = {std::byte{9}};
      ASSERT_TRUE(file.patch(kBytes + 64, patch));
      from->bytes[64] = std::byte{9};
      std::memset(from->bytes.data() + 65, 0, 7);
      ASSERT_TRUE(file.read(kBytes, to->bytes, used));
      EXPECT_EQ(std::memcmp(to->bytes.data(), from->bytes.data(), used.headers), 0) << used.headers;
      EXPECT_EQ(
          std::memcmp(to->bytes.data() + used.payloads, from->bytes.data() + used.payloads, kBytes - used.payloads), 0)
          << used.payloads;
    }
    EXPECT_FALSE(file.read(2 * kBytes, to->bytes, {192, 192})) << "behind the end";
  }
}

TEST(Stream, CopiesEverySizeAndNothingBehindIt) {
  alignas(64) static char to[3000];
  static char from[3000];
  for (std::size_t i = 0; i < sizeof(from); ++i) from[i] = static_cast<char>(i * 7 + 1);
  for (std::size_t bytes = 0; bytes < 2900; bytes += 13) {
    std::memset(to, 0, sizeof(to));
    stream(to, from + 3, bytes);
    fence_stores();
    ASSERT_EQ(std::memcmp(to, from + 3, bytes), 0) << bytes;
    ASSERT_EQ(to[bytes], 0) << bytes;
  }
}

TEST(Stream, CopiesWhatFitsIntoNoCacheWordForWord) {
  constexpr std::size_t kBytes = (2 << 20) + 3 * 4096 + 1000;
  std::vector<std::uint64_t> from(kBytes / 8);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = i;
  auto to = memory_of_process()->make(0, 3 << 20);
  ASSERT_TRUE(to);
  stream(to->bytes.data(), from.data(), kBytes);
  fence_stores();
  EXPECT_EQ(std::memcmp(to->bytes.data(), from.data(), kBytes), 0);
  EXPECT_EQ(to->bytes[kBytes], std::byte{0});
}

}  // namespace
}  // namespace forebay::segment
